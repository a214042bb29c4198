/**
 * Calls that crash a daemon, each with its reason; checked before the types of parameters. Other checks keep out input that crashes it
 * in any method: the reader of bodies bounds nested brackets, and the parameter types refuse megabytes of JSON or base58 in a text.
 */
import { isWrittenHash } from '../../domain/hashes.ts';
import { RPC_CODES, type RpcRequest } from '../../schemas/verusd/rpc-envelope.ts';
import type { GuardedChain, MethodGuard } from './guards.ts';
import { MOST_NAME } from './parameters/scalars.ts';
import { RpcError } from './rpc-error.ts';

export interface DeadlyCall extends Omit<MethodGuard, 'check'> {
  /** Effect on the daemon. */
  readonly why: string;
  readonly check: (request: RpcRequest, chain: GuardedChain) => void | Promise<void>;
}

const invalid = (message: string) => new RpcError(RPC_CODES.invalidParameter, message);
const textOf = (text: string | undefined): string | null => (text?.startsWith('"') ? String(JSON.parse(text)) : null);

async function onlyAfterStart({ texts: [text, ...more] }: RpcRequest, chain: GuardedChain): Promise<void> {
  const name = textOf(text);
  if (name === null || name === '' || more.length > 0) return; // the daemon finds no currency for these
  if (name.length > MOST_NAME) return; // its type refuses it: hashing the labels of megabytes would take a minute
  const startBlock = await chain.startBlock(name);
  if (startBlock === null || startBlock < 1) throw invalid('Invalid chain name or chain ID');
}

/** -1 is the tip. Any other number that is negative or has more than nine digits may wrap to a height below it. */
function onlyRealHeights({ texts: [, height] }: RpcRequest): void {
  if (height !== undefined && /^[-\d]/.test(height) && !/^(?:-1|\d{1,9})(?:\.\d+)?$/.test(height)) {
    throw invalid('Parameter 2 must be a height: a whole number from 0 to 999999999, or -1');
  }
}

/** The daemon reads leading hexadecimal digits of a text as an id and pads short ids with zeros, so a partial id can name an output. */
function onlyWholeIds({ texts: [text] }: RpcRequest): void {
  const id = textOf(text);
  if (id !== null && id.length > 32 && !isWrittenHash(id)) throw invalid('Parameter 1 must be 64 hexadecimal digits');
}

export const DEADLY_CALLS: Readonly<Record<string, DeadlyCall>> = {
  getinitialcurrencystate: {
    why: "It reads the block before the currency's first one; for the chain's own currency and others without a start that is block -1.",
    refuses: 'currencies that the index does not know, or that began with the chain',
    refused: ['["VRSCTEST"]', '["nosuch"]', '["hex:00"]', '["VRSCTEST\\u0000"]'],
    check: onlyAfterStart,
  },
  getcurrencystate: {
    why: 'It reads a block at a height below -1, or at a height that wraps to one in 32 bits.',
    refuses: 'heights below -1 and of more than nine digits',
    refused: [
      '["VRSCTEST",-2]',
      '["VRSCTEST",4294967294]',
      '["VRSCTEST",-2147483648]',
      '["VRSCTEST",-2.5]',
      '["VRSCTEST",-9e1]',
    ],
    check: onlyRealHeights,
  },
  gettxout: {
    why: 'For an output in the mempool it leaves a block without a header in the index, which getchaintips and getblock then read.',
    refuses: 'malformed ids',
    refused: [
      `["0x${'ab'.repeat(32)}",0]`,
      `["${'ab'.repeat(32)}zz",0]`,
      `[" ${'ab'.repeat(32)}",0]`,
      `["${'ab'.repeat(31)}a",0,true]`,
    ],
    check: onlyWholeIds,
  },
};
