/** Calls that several requests may share: a call is given up once no request wants it, and its memory counts for each request. */
import { AnswerGivenUp, type AnswerMemory } from './answer-memory.ts';
import { untilAborted } from './until-aborted.ts';

/** The memory account of one request that waits. */
type Asking = Pick<AnswerMemory, 'holds'>;

interface Share {
  readonly askers: Set<Asking>;
  readonly calledOff: AbortController;
  bytes: number;
}

/** Limits of a call on behalf of all requests that wait for it. */
interface Limits extends Pick<AnswerMemory, 'holds' | 'signal'> {
  /** Whether any request waits. A new one may join after the others have left, while the daemon still works on the call. */
  isWanted(): boolean;
}

/**
 * `work` either calls `begin` and makes a call within the returned limits, or waits for the latest call that was begun for the key. It
 * decides before its first await; if it cannot use the answer to the call that it waited for, it may still begin one.
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
