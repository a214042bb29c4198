/** A recording that has blocks alone: `chain.json` says whose they are, and only what follows from the blocks is answered. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Recording } from './recording.ts';
import { RpcFailure } from './rpc-failure.ts';

interface BareChain {
  readonly name: string;
  readonly chainid: string;
}

/** Members that blocks and the chain's names tell; the released tip fills in the rest. */
const SUMMARIES: Readonly<Record<string, readonly string[]>> = {
  getblockchaininfo: [
    'name',
    'chainid',
    'blocks',
    'headers',
    'bestblockhash',
    'difficulty',
    'chainwork',
    'chainstake',
    'valuePools',
  ],
  getinfo: ['name', 'chainid', 'blocks', 'longestchain', 'tiptime', 'difficulty'],
  getmininginfo: ['blocks', 'difficulty', 'networkhashps'],
};

/** Null for a recording with its calls. */
export function readBareChain({ folder }: Pick<Recording, 'folder'>): BareChain | null {
  const file = join(folder, 'chain.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as BareChain) : null;
}

/** The text of a summary before the tip is filled in. */
export function bareSummary(chain: BareChain, method: string): string {
  const known: Readonly<Record<string, unknown>> = { ...chain };
  const members = SUMMARIES[method] ?? [];
  return JSON.stringify(Object.fromEntries(members.map((member) => [member, known[member] ?? 0])));
}

export function noRawBlock(hash: string): never {
  throw new RpcFailure(-1, `not in the recording: the raw block ${hash}`);
}
