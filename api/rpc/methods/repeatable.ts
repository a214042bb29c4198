/** Cache rules of daemon answers: only those that depend on nothing but the parameters, or the chain up to its tip, are cached. */

import { WRITTEN_HASH } from '../../../domain/hashes.ts';

/** `tip`: while the newest block is the same. OfHeight: forever once no rewind can reach that height, otherwise like `tip`. */
export type Lifetime = 'forever' | 'tip' | OfHeight;

interface OfHeight {
  readonly height: number;
  /** Whether the answer proves that the daemon has that block. A daemon that lags behind the index may not; its answer is not cached. */
  readonly isShownBy: (answer: Buffer) => boolean;
}

export interface Repeatable {
  /** Description for docs/json-rpc.md. */
  readonly kept: string;
  /** Returns null if the answer depends on the mempool and must not be cached. */
  readonly lifetime: (texts: readonly string[]) => Lifetime | null;
}

const FOREVER = 'for good';
const TIP = 'until the next block';

export const forever: Repeatable = { kept: FOREVER, lifetime: () => 'forever' };

export const untilNextBlock: Repeatable = { kept: TIP, lifetime: () => 'tip' };

const HEIGHT = /^"(\d{1,10})"$/;

const showsSupply = (answer: Buffer) => answer.includes('"result":"success"');

/** The answer depends only on blocks up to that height, or reports that the daemon does not have the height. */
export const supplyAtHeight: Repeatable = {
  kept: `${FOREVER} at a height that nothing can rewind, else ${TIP}; not that a height is invalid`,
  lifetime([text = '']) {
    const height = HEIGHT.exec(text)?.[1];
    return height === undefined ? 'tip' : { height: Number(height), isShownBy: showsSupply };
  },
};

/** A negative height includes unconfirmed state. */
export const unlessMempool: Repeatable = {
  kept: `${TIP}, without the mempool`,
  lifetime: (texts) => (texts.slice(1).some((text) => /^"?-/.test(text)) ? null : 'tip'),
};

const HASH = new RegExp(`^"${WRITTEN_HASH}"$`);

/** An answer with transactions shows the spenders of their outputs, which depend on the mempool. */
export const block: Repeatable = {
  kept: `serialised by hash ${FOREVER}, verbosity 1 ${TIP}`,
  lifetime([hash = '', verbosity = '1']) {
    if (verbosity === '0') return HASH.test(hash) ? 'forever' : 'tip';
    return verbosity === '1' ? 'tip' : null;
  },
};

export const blockHeader: Repeatable = {
  kept: `serialised ${FOREVER}, else ${TIP}`,
  lifetime: ([, verbose]) => (verbose === 'false' ? 'forever' : 'tip'),
};

export const confirmedOutput: Repeatable = {
  kept: `without the mempool ${TIP}`,
  lifetime: ([, , includeMempool]) => (includeMempool === 'false' ? 'tip' : null),
};
