/** Calls that several requests may wait for: such a call is given up once none of them wants it, and what it holds counts for each. */
import { AnswerGivenUp, type AnswerMemory } from './answer-memory.ts';
import { untilAborted } from './until-aborted.ts';

/** Where it counts for one who asks. */
type Asking = Pick<AnswerMemory, 'holds'>;

interface Share {
  readonly askers: Set<Asking>;
  readonly calledOff: AbortController;
  bytes: number;
}

/** A call has them in common for all who wait for it. */
interface Limits extends Pick<AnswerMemory, 'holds' | 'signal'> {
  /** Whether one of them waits; one may come when the others have gone, while the daemon is at it. */
  isWanted(): boolean;
}

/**
 * `work` either calls `begin` and makes a call within its limits, or waits for the latest that was begun for the key. It decides before its
 * first await; where the answer to that call is of no use to it, it may still begin one.
 */
export type SharedCalls = <T>(
  key: string,
  memory: AnswerMemory | undefined,
  work: (begin: () => Limits) => Promise<T>,
) => Promise<T>;

export function createSharedCalls(): SharedCalls {
  const shares = new Map<string, Share>();

  function leave(share: Share | undefined, asking: Asking): void {
    if (share?.askers.delete(asking) && share.askers.size === 0) share.calledOff.abort(new AnswerGivenUp());
  }

  return async (key, memory, work) => {
    const asking: Asking = { holds: (bytes) => memory?.holds(bytes) };
    let joined: Share | undefined;
    let own: Share | undefined;
    const leaveJoined = () => leave(joined, asking);
    const join = (share: Share) => {
      leaveJoined();
      joined = share;
      share.askers.add(asking);
      asking.holds(share.bytes);
    };
    const begin = (): Limits => {
      const share: Share = { askers: new Set(), calledOff: new AbortController(), bytes: 0 };
      shares.set(key, share);
      own = share;
      join(share);
      if (memory?.isGivenUp) leaveJoined();
      return {
        signal: share.calledOff.signal,
        isWanted: () => share.askers.size > 0,
        holds(bytes) {
          share.bytes = bytes;
          for (const one of share.askers) one.holds(bytes);
        },
      };
    };
    const outcome = work(begin).finally(() => {
      if (own && shares.get(key) === own) shares.delete(key);
    });
    const underWay = shares.get(key);
    if (!joined && underWay) join(underWay);
    try {
      return await untilAborted(outcome, memory?.signal, leaveJoined);
    } finally {
      leaveJoined();
    }
  };
}
