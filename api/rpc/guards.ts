/** Guards in front of a daemon that the public may call. A guard throws RpcError or lets the call pass. */
import { rawStrings } from '../../domain/json/raw-json.ts';
import { RPC_CODES, type RpcRequest } from '../../schemas/verusd/rpc-envelope.ts';
import { methodNotFound, RpcError } from './rpc-error.ts';

export interface GuardedChain {
  readonly blockSeconds: number;
  /** Height of the chain, also while the index is behind; Infinity while it is unknown. */
  height(): number;
  /** Start block of a currency, by name or i-address; null if the index does not have the currency. */
  startBlock(currency: string): Promise<number | null>;
}

export interface MethodGuard {
  /** Human-readable description of the refused calls. */
  readonly refuses: string;
  /** Parameters that the guard must refuse: the tests send them and check that nothing reaches the daemon. */
  readonly refused: readonly string[];
  readonly check: (request: RpcRequest, chain: GuardedChain) => void;
}

/** Without the flag these methods spend or write with the node's keys, so they answer as unknown methods. */
export function onlyWithReturntx(position: number): MethodGuard {
  const before = Array.from({ length: position }, () => '{}');
  return {
    refuses: `unless parameter ${position + 1} is true`,
    refused: ['[]', ...['false', '1', '"true"', 'null', '[true]'].map((flag) => `[${[...before, flag].join()}]`)],
    check({ texts }) {
      if (texts[position] !== 'true') throw methodNotFound();
    },
  };
}

/** A member `filename`, at any depth, makes the daemon read that file from its own disk. Applies to every method. */
export const filenameGuard: MethodGuard = {
  refuses: 'a member `filename`',
  refused: ['[{"filename":"/etc/passwd"}]', '[{},[{"a":{"\\u0066ilename" : 1}}]]'],
  check({ params }) {
    if (!params.includes('filename') && !params.includes('\\')) return; // not even in escaped form
    for (const { value, isKey } of rawStrings(params)) {
      if (isKey && value === 'filename') {
        throw new RpcError(RPC_CODES.invalidParameter, 'filename is not served: it would be read on the server');
      }
    }
  },
};

const MOST_BLOCKS = 50_000;
const MOST_POINTS = 2000;
const MOST_VERIFIED = 2000;

const tooMuch = (most: number) => new RpcError(RPC_CODES.invalidParameter, `More than ${most} blocks in one call`);

/** Reads a height; the parameter types let only plain decimals pass. */
const numberOf = (text: string | undefined): number | null => {
  const digits = /^"?(-?\d+)/.exec(text ?? '')?.[1];
  return digits === undefined ? null : Number(digits);
};

/** The daemon's step over a range from `first` to `last` that has no step. */
type DefaultStep = (first: number, last: number, range: string) => number;

/** The daemon uses the last number of the range as the missing step. */
export const stepOfLast: DefaultStep = (_, last) => last;

/** The daemon multiplies the step by ten until at most 100 fit into the range; after a trailing comma it uses the last number instead. */
export const stepOfHundredth: DefaultStep = (first, last, range) => {
  if (range.split(',').length > 2) return stepOfLast(first, last, range);
  let step = 1;
  while (Math.floor((last - first) / step) > 100) step *= 10;
  return step;
};

/** Bounds "m,n" and "m,n,o": one result for every o-th height from m to n. */
export function mostPoints(position: number, defaultStep: DefaultStep): MethodGuard {
  return {
    refuses: `more than ${MOST_POINTS} heights`,
    refused: [
      `0,${MOST_POINTS},1`,
      `0,${MOST_POINTS},0`,
      ` 0 , ${MOST_POINTS} , 1 `,
      '1,99999999,10',
      '1, 99999999, 10',
    ].map((range) => `[${'"x",'.repeat(position)}"${range}"]`),
    check({ texts }, chain) {
      const range = texts[position] ?? '';
      const [first, last, step] = heightsOf(range);
      if (first === undefined || last === undefined) return;
      const span = Math.min(last, chain.height()) - first;
      if (span / Math.max(1, step ?? defaultStep(first, last, range)) >= MOST_POINTS) throw tooMuch(MOST_POINTS);
    },
  };
}

/** With a third parameter, which asks for volumes, the daemon reads every block between the heights, whatever the step. */
export const mostBlocksOfVolumes: MethodGuard = {
  refuses: `volumes over more than ${MOST_BLOCKS} blocks`,
  refused: [`["x","1,${MOST_BLOCKS + 2},9000","x"]`, `["x"," 1 , ${MOST_BLOCKS + 2}, 9000 ","x"]`],
  check({ texts }, chain) {
    if (texts.length < 3) return;
    const [first, last] = heightsOf(texts[1]);
    if (first === undefined || last === undefined) return;
    if (Math.min(last, chain.height()) - first > MOST_BLOCKS) throw tooMuch(MOST_BLOCKS);
  },
};

const heightsOf = (text: string | undefined): number[] =>
  text?.startsWith('"') ? (text.match(/\d+/g) ?? []).map(Number) : [];

/** Bounds the blocks between two heights, parameters 2 and 3; missing heights are the first and the last block. */
export const mostBlocksBetween: MethodGuard = {
  refuses: `more than ${MOST_BLOCKS} blocks`,
  refused: ['["x"]', `["x",1,${MOST_BLOCKS + 2}]`, '["x","0","0"]', '["x",0,-1]'],
  check({ texts }, chain) {
    const [first, last] = [numberOf(texts[1]) ?? 0, numberOf(texts[2]) ?? 0];
    const end = last > 0 ? Math.min(last, chain.height()) : chain.height();
    if (texts.length > 0 && end - Math.max(first, 0) > MOST_BLOCKS) throw tooMuch(MOST_BLOCKS);
  },
};

/** Bounds the blocks between two times, at most as many as the chain has. The daemon reads a negative time as one in the far future. */
export const mostBlocksBetweenTimes: MethodGuard = {
  refuses: `more than ${MOST_BLOCKS} blocks`,
  refused: ['[2000000000,0]', '[2000000000,1500000000,{"noOrphans":true}]', '[-1,0]', '[-2147483648,5]'],
  check({ texts: [high, low] }, chain) {
    const [last, first] = [(numberOf(high) ?? 0) >>> 0, (numberOf(low) ?? 0) >>> 0];
    if (Math.min((last - first) / chain.blockSeconds, chain.height()) > MOST_BLOCKS) throw tooMuch(MOST_BLOCKS);
  },
};

/** Bounds the number of blocks that the daemon walks back from the tip. */
export const mostBlocksBack: MethodGuard = {
  refuses: `more than ${MOST_BLOCKS} blocks`,
  refused: [`[${MOST_BLOCKS + 1}]`, '[2147483647,-1]'],
  check({ texts: [blocks] }, chain) {
    if (Math.min(numberOf(blocks) ?? 0, chain.height()) > MOST_BLOCKS) throw tooMuch(MOST_BLOCKS);
  },
};

/** The daemon reads a number below 1 as the whole chain. */
export const mostBlocksToVerify: MethodGuard = {
  refuses: `more than ${MOST_VERIFIED} blocks`,
  refused: ['[1,0]', '[1,-1]', `[4,${MOST_VERIFIED + 1}]`],
  check({ texts: [, blocks] }, chain) {
    const asked = numberOf(blocks);
    if (asked === null) return; // not a number, which the daemon refuses, or missing, for which it has a default
    if (Math.min(asked < 1 ? Number.POSITIVE_INFINITY : asked, chain.height()) > MOST_VERIFIED) {
      throw tooMuch(MOST_VERIFIED);
    }
  },
};

/** The daemon cannot make a proof at a height that the chain has not reached. */
export function noProofAbove(position: number): MethodGuard {
  return {
    refuses: 'proofs at a height above the newest block',
    refused: [`[${'0,'.repeat(position)}99999999]`],
    check({ texts }, chain) {
      if ((numberOf(texts[position]) ?? 0) > chain.height()) {
        const message = `Parameter ${position + 1} must be a height of the chain, which has ${chain.height()} blocks`;
        throw new RpcError(RPC_CODES.invalidParameter, message);
      }
    },
  };
}
