/**
 * Calls that end a daemon, each with its reason; checked before everything else. Beside these, no call at all carries what ends it in
 * any method: brackets nested without end (the reader of bodies), and JSON or base58 of megabytes in a text (the types of parameters).
 */
import { isWrittenHash } from '../../domain/hashes.ts';
import { RPC_CODES, type RpcRequest } from '../../schemas/verusd/rpc-envelope.ts';
import type { GuardedChain, MethodGuard } from './guards.ts';
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
  if (name === null || name === '' || more.length > 0) return; // of which the daemon makes no currency
  const startBlock = await chain.startBlock(name);
  if (startBlock === null || startBlock < 1) throw invalid('Invalid chain name or chain ID');
}

/** -1 is the tip. Whatever else is no small number may wrap to one below it. */
function onlyRealHeights({ texts: [, height] }: RpcRequest): void {
  if (height !== undefined && /^[-\d]/.test(height) && !/^(?:-1|\d{1,9})(?:\.\d+)?$/.test(height)) {
    throw invalid('Parameter 2 must be a height: a whole number from 0 to 999999999, or -1');
  }
}

/** The daemon reads the hexadecimal digits that a text begins with, and those of an id may begin with zeros. */
function onlyWholeIds({ texts: [text] }: RpcRequest): void {
  const id = textOf(text);
  if (id !== null && id.length > 32 && !isWrittenHash(id)) throw invalid('Parameter 1 must be 64 hexadecimal digits');
}

export const DEADLY_CALLS: Readonly<Record<string, DeadlyCall>> = {
  getinitialcurrencystate: {
    why: "It reads the block before the currency's first one, which for the own currency and others without a start is block -1.",
    refuses: 'currencies that the index does not know, or that began with the chain',
    refused: ['["VRSCTEST"]', '["nosuch"]', '["hex:00"]', '["VRSCTEST\\u0000"]'],
    check: onlyAfterStart,
  },
  getcurrencystate: {
    why: 'It reads the block of a height below -1, or of one that wraps to it in 32 bits.',
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
    why: 'Of an output in the mempool it leaves a block without a header, which getchaintips and getblock then read.',
    refuses: 'ids that are not whole',
    refused: [
      `["0x${'ab'.repeat(32)}",0]`,
      `["${'ab'.repeat(32)}zz",0]`,
      `[" ${'ab'.repeat(32)}",0]`,
      `["${'ab'.repeat(31)}a",0,true]`,
    ],
    check: onlyWholeIds,
  },
};
