/** Which answers may be given twice, and for how long. Only functions of the parameters, or of the chain up to its tip. */

import { WRITTEN_HASH } from '../../../domain/hashes.ts';

/** `forever`; `tip`: while that block is the newest; of a height: for good once nothing can rewind that block, else as `tip`. */
export type Lifetime = 'forever' | 'tip' | OfHeight;

interface OfHeight {
  readonly height: number;
  /** Whether the answer shows that the daemon has that block: one that lags behind the index may not, and its answer is not kept. */
  readonly isShownBy: (answer: Buffer) => boolean;
}

export interface Repeatable {
  /** For people. */
  readonly kept: string;
  /** Null: the call is not repeatable, since its answer depends on the mempool. */
  readonly lifetime: (texts: readonly string[]) => Lifetime | null;
}

const FOREVER = 'for good';
const TIP = 'until the next block';

export const forever: Repeatable = { kept: FOREVER, lifetime: () => 'forever' };

export const untilNextBlock: Repeatable = { kept: TIP, lifetime: () => 'tip' };

const HEIGHT = /^"(\d{1,10})"$/;

const showsSupply = (answer: Buffer) => answer.includes('"result":"success"');

/** The answer describes the block of that height and no later one, or says that the daemon has none. */
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

/** With transactions, the answer shows the spenders of their outputs, which depend on the mempool. */
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
