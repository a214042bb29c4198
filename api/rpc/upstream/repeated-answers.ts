/** Cache of repeatable answers, stored without the id so that each caller gets its own id back. */
import type { BlockRef } from '../../../domain/block-ref.ts';
import { createPreparedAnswers, type PreparedAnswer } from '../../http/prepared-answers.ts';
import type { Lifetime } from '../methods/repeatable.ts';
import type { DaemonReply } from './proxy.ts';

export interface RepeatedAnswersOptions {
  /** Newest block of the index; null while there is none. */
  readonly tip: () => BlockRef | null;
  /** Blocks; nothing is rewound deeper than this. */
  readonly finalityDepth: number;
  readonly maxBytes: number;
}

export interface RepeatedAnswers {
  /** Returns null when no answer is cached. `id` is in the form that the daemon prints. */
  kept(key: string, lifetime: Lifetime, id: string): DaemonReply | null;
  /** Calls `ask` when no answer is cached, once for all concurrent callers. */
  get(key: string, lifetime: Lifetime, id: string, ask: () => Promise<DaemonReply>): Promise<DaemonReply>;
}

interface Kept extends PreparedAnswer {
  readonly status: number;
  /** Null if the answer can be shared. Otherwise the whole reply: it did not end with the id of the call, so others cannot use it. */
  readonly own: DaemonReply | null;
}

/** Longest time that a stalled index may delay new answers of the daemon. */
const MAX_AGE_MS = 15_000;
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const FOREVER = 'forever';

/** End of an answer: the id and the newline. */
const tail = (id: string) => `,"id":${id}}\n`;

export function createRepeatedAnswers({ tip, finalityDepth, maxBytes }: RepeatedAnswersOptions): RepeatedAnswers {
  const answers = createPreparedAnswers<Kept>(maxBytes);
  let highest = 0;
  /** Tag of the newest block, valid until the block or the time span changes. */
  let newest = { at: null as BlockRef | null, span: 0, tag: '' };
  /** Counts rewinds below finality, which an operator may accept: they invalidate answers for settled heights. */
  let era = 0;

  /** Tag of the state for which an answer of this lifetime is valid now; null for an answer that cannot be cached. */
  function tagOf(lifetime: Lifetime): string | null {
    const at = tip();
    if (at && at.height < highest - finalityDepth) {
      era += 1;
      highest = at.height;
    }
    highest = Math.max(highest, at?.height ?? 0);
    if (lifetime === 'forever') return FOREVER;
    if (!at) return null;
    if (lifetime !== 'tip' && lifetime.height <= at.height - finalityDepth) return `${FOREVER} ${era}`;
    const span = Math.floor(Date.now() / MAX_AGE_MS);
    if (newest.at !== at || newest.span !== span) newest = { at, span, tag: `${at.height} ${at.hash} ${span}` };
    return newest.tag;
  }

  function kept(reply: DaemonReply, id: string, tag: string, lifetime: Lifetime): Kept {
    const { status, body } = reply;
    const end = Buffer.from(tail(id));
    const isWhole = end.equals(body.subarray(-end.length));
    const head = isWhole ? body.subarray(0, -end.length) : body;
    const isOther = typeof lifetime === 'object' && !lifetime.isShownBy(Buffer.from(head));
    const transient = status !== 200 || !isWhole || isOther || head.length > MAX_ANSWER_BYTES;
    return { tag, status, body: head, transient, own: isWhole ? null : reply };
  }

  async function askOnce(
    key: string,
    tag: string,
    id: string,
    ask: () => Promise<DaemonReply>,
    lifetime: Lifetime,
  ): Promise<DaemonReply> {
    let mine: Promise<DaemonReply> | undefined;
    const making = answers.make(key, tag, async () => {
      mine = ask();
      return kept(await mine, id, tag, lifetime);
    });
    if (mine) await making;
    if (mine) return mine;
    const made = await making;
    return made.own ? ask() : repeated(made, id);
  }

  function keptAt(key: string, tag: string, id: string): DaemonReply | null {
    const known = answers.get(key, tag);
    return known ? repeated(known, id) : null;
  }

  return {
    kept(key, lifetime, id) {
      const tag = tagOf(lifetime);
      return tag === null ? null : keptAt(key, tag, id);
    },
    async get(key, lifetime, id, ask) {
      const tag = tagOf(lifetime);
      if (tag === null) return ask();
      return keptAt(key, tag, id) ?? askOnce(key, tag, id, ask, lifetime);
    },
  };
}

const repeated = ({ status, body }: Kept, id: string): DaemonReply => ({ status, body, end: tail(id) });
