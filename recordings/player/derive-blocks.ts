/** Blocks, headers and hashes at the released tip. */
import { isWrittenHash } from '../../domain/hashes.ts';
import { rawMember } from '../../domain/json/raw-json.ts';
import type { RecordingView } from './chain-view.ts';
import { atMost, type Derivations, requireInteger, stringParam } from './derivation.ts';
import { type MemberPair, mapElements, printPairs, readPairs } from './members.ts';
import { headerHex, type RawBlock } from './raw-blocks.ts';
import type { RecordedBlock } from './recording.ts';
import { RpcFailure } from './rpc-failure.ts';
import type { SpentAsOf } from './spent-outputs.ts';

const HEIGHT = /^\d{1,9}$/;

/** Sets confirmations and nextblockhash for the view's tip. */
function placeInChain(view: RecordingView, block: RecordedBlock, pairs: readonly MemberPair[]): MemberPair[] {
  const active = view.isActive(block);
  const next = active ? view.at(block.height + 1) : undefined;
  const nextPair: MemberPair[] = next === undefined ? [] : [['nextblockhash', `"${next.hash}"`]];
  const recordedNext = pairs.some(([key]) => key === 'nextblockhash');
  return pairs.flatMap((pair): MemberPair[] => {
    const [key] = pair;
    if (key === 'confirmations') return [[key, String(active ? view.height - block.height + 1 : -1)]];
    if (key === 'nextblockhash') return nextPair;
    if (key === 'previousblockhash' && !recordedNext) return [pair, ...nextPair];
    return [pair];
  });
}

/** The daemon accepts a number or a boolean. */
function verbosityOf(text: string | undefined): 0 | 1 | 2 | null {
  if (text === undefined || text === 'true' || text === '1') return 1;
  if (text === 'false' || text === '0') return 0;
  return text === '2' ? 2 : null;
}

export function createBlockDerivations(rawBlock: RawBlock, spentAsOf: SpentAsOf): Derivations {
  function byHash(view: RecordingView, hash: string): RecordedBlock {
    const block = view.byHash(hash.toLowerCase());
    if (block === undefined) throw new RpcFailure(-5, 'Block not found');
    return block;
  }

  function find(view: RecordingView, where: string): RecordedBlock | null {
    if (isWrittenHash(where)) return byHash(view, where);
    if (!HEIGHT.test(where)) return null;
    const block = view.at(Number(where));
    if (block === undefined) throw new RpcFailure(-8, 'Block height out of range');
    return block;
  }

  function transactions(view: RecordingView, tx: string, verbosity: 1 | 2): string {
    return mapElements(tx, (text) => (verbosity === 1 ? rawMember(text, 'txid') : spentAsOf(view, text)));
  }

  return {
    getblockcount(view, params) {
      atMost(params, 0);
      return String(view.height);
    },
    getbestblockhash(view, params) {
      atMost(params, 0);
      return `"${view.best.hash}"`;
    },
    getblockhash(view, params) {
      const [height] = params;
      atMost(params, 1);
      if (height === undefined) return null;
      const block = view.at(requireInteger(height));
      if (block === undefined) throw new RpcFailure(-8, 'Block height out of range');
      return `"${block.hash}"`;
    },
    getblock(view, params) {
      const [where, verbosity] = params;
      atMost(params, 2);
      const wanted = stringParam(where);
      const level = verbosityOf(verbosity);
      if (wanted === null || level === null) return null;
      const block = find(view, wanted);
      if (block === null) return null;
      if (level === 0) return `"${rawBlock(block.hash)}"`;
      if (level === 2 && view.atRecordedTip) return block.block();
      const pairs = placeInChain(view, block, readPairs(block.block()));
      return printPairs(
        pairs.map(([key, value]) => [key, key === 'tx' ? transactions(view, value, level) : value] as const),
      );
    },
    getblockheader(view, params) {
      const [hash, verbose = 'true'] = params;
      atMost(params, 2);
      const wanted = stringParam(hash);
      if (wanted === null || !isWrittenHash(wanted)) return null;
      if (verbose !== 'true' && verbose !== 'false') return null;
      const block = byHash(view, wanted);
      if (verbose === 'false') return `"${headerHex(rawBlock(block.hash))}"`;
      return printPairs(placeInChain(view, block, readPairs(block.header())));
    },
  };
}
