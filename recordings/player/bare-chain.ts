/** A recording that contains only blocks: `chain.json` names its chain, and it answers only what follows from the blocks. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rawMember, rawMembers } from '../../domain/json/raw-json.ts';
import { type Derive, stringParam } from './derivation.ts';
import type { Recording } from './recording.ts';
import { RpcFailure } from './rpc-failure.ts';

interface BareChain {
  readonly name: string;
  readonly chainid: string;
}

/** Members that follow from blocks and the chain's names; their values come from the released tip. */
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

/** Returns null for a recording that contains calls. */
export function readBareChain({ folder }: Pick<Recording, 'folder'>): BareChain | null {
  const file = join(folder, 'chain.json');
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as BareChain) : null;
}

/** The JSON of a summary whose members are still to be filled in from the tip. */
export function bareSummary(chain: BareChain, method: string): string {
  const known: Readonly<Record<string, unknown>> = { ...chain };
  const members = SUMMARIES[method] ?? [];
  return JSON.stringify(Object.fromEntries(members.map((member) => [member, known[member] ?? 0])));
}

export function noRawBlock(hash: string): never {
  throw new RpcFailure(-1, `not in the recording: the raw block ${hash}`);
}

/** Currency definitions in released blocks, by name or i-address. */
export function createDefinitions({ main }: Pick<Recording, 'main'>): Derive {
  let known: readonly { readonly height: number; readonly text: string }[] | undefined;
  const read = () => main.flatMap(({ height, block }) => definitionsIn(block()).map((text) => ({ height, text })));
  return (view, [param, ...rest]) => {
    const wanted = stringParam(param);
    if (wanted === null || rest.length > 0) return null;
    known ??= read();
    const defined = known.find(({ height, text }) => {
      const keys = [rawMember(text, 'currencyid'), rawMember(text, 'name')];
      return height <= view.height && keys.includes(JSON.stringify(wanted));
    });
    return defined?.text ?? null;
  };
}

const DEFINITION = '"currencydefinition":';

function definitionsIn(block: string): string[] {
  const found: string[] = [];
  for (let at = block.indexOf(DEFINITION); at >= 0; at = block.indexOf(DEFINITION, at + 1)) {
    const start = at + DEFINITION.length;
    const end = rawMembers(block, start).at(-1)?.end ?? start;
    found.push(`${block.slice(start, end)}}`);
  }
  return found;
}
