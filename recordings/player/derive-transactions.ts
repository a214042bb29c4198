/** getrawtransaction and getrawmempool at the released tip. */

import { join } from 'node:path';
import { isWrittenHash } from '../../domain/hashes.ts';
import { elementTexts, rawMember } from '../../domain/json/raw-json.ts';
import type { RecordingView } from './chain-view.ts';
import { atMost, type Derivations, integerParam, stringParam } from './derivation.ts';
import { type MemberPair, mapElements, printPairs, readPairs } from './members.ts';
import { createTextsByKey } from './packed-texts.ts';
import { headerHex, type RawBlock } from './raw-blocks.ts';
import { readLines } from './read-lines.ts';
import type { RecordedBlock, Recording } from './recording.ts';
import { RpcFailure } from './rpc-failure.ts';
import type { SpentAsOf } from './spent-outputs.ts';
import { createWaitingTransactions } from './waiting-transactions.ts';

const PLACE = new Set(['blockhash', 'height', 'confirmations', 'time', 'blocktime']);

/** Recorded verbose transactions of the main branch by txid, read on first use. */
function createRecordedTransactions({ folder }: Recording): (txid: string) => string | undefined {
  return createTextsByKey(function* () {
    for (const line of readLines(join(folder, 'txs.jsonl.gz'))) {
      const pairs = new Map(readPairs(line.toString('utf8')));
      yield [JSON.parse(pairs.get('txid') ?? 'null') as string, pairs.get('tx') ?? ''];
    }
  });
}

/** Maps the transactions of one branch to their blocks. */
function transactionBlocks(blocks: readonly RecordedBlock[]): Map<string, RecordedBlock> {
  return new Map(blocks.flatMap((block) => block.txids.map((txid) => [txid, block] as const)));
}

export function createTransactionDerivations(
  recording: Recording,
  rawBlock: RawBlock,
  spentAsOf: SpentAsOf,
): Derivations {
  const recorded = createRecordedTransactions(recording);
  const waitingIn = createWaitingTransactions(recording, (txid) => recorded(txid) !== undefined);
  const onMain = transactionBlocks(recording.main);
  const onOrphan = transactionBlocks(recording.orphans);

  /** A coinbase that is alone in its block was recorded only inside the block; its hex is the rest of the raw block. */
  function loneCoinbase(block: RecordedBlock): string | null {
    if (block.txids.length !== 1) return null;
    const tx = rawMember(block.block(), 'tx') ?? '[]';
    const [only] = elementTexts(tx);
    if (only === undefined) return null;
    const raw = rawBlock(block.hash);
    const withoutZat = (text: string) => printPairs(readPairs(text).filter(([key]) => key !== 'valueZat'));
    const pairs = readPairs(only)
      .filter(([key]) => key !== 'valueBalanceZat')
      .map(([key, value]): MemberPair => [key, key === 'vout' ? mapElements(value, withoutZat) : value]);
    const time = rawMember(block.block(), 'time') ?? '0';
    return printPairs([
      ['hex', `"${raw.slice(headerHex(raw).length + 2)}"`],
      ...pairs,
      ['blockhash', `"${block.hash}"`],
      ['height', String(block.height)],
      ['confirmations', '0'],
      ['time', time],
      ['blocktime', time],
    ]);
  }

  function holder(view: RecordingView, txid: string): RecordedBlock | undefined {
    const candidates = [onMain.get(txid), onOrphan.get(txid)];
    return candidates.find((block) => block !== undefined && view.isActive(block));
  }

  function verbose(view: RecordingView, txid: string, block: RecordedBlock): string | null {
    const text = recorded(txid) ?? loneCoinbase(block);
    if (text === null) return null;
    const time = rawMember(block.block(), 'time') ?? '0';
    const place: Readonly<Record<string, string>> = {
      blockhash: `"${block.hash}"`,
      height: String(block.height),
      confirmations: String(view.height - block.height + 1),
      time,
      blocktime: time,
    };
    const pairs = readPairs(spentAsOf(view, text));
    return printPairs(pairs.map(([key, value]): MemberPair => [key, place[key] ?? value]));
  }

  /** The daemon prints no block, height or time for a waiting transaction. */
  function waiting(view: RecordingView, txid: string): string | null {
    const text = waitingIn(view).has(txid) ? recorded(txid) : undefined;
    if (text === undefined) return null;
    return printPairs(readPairs(spentAsOf(view, text)).filter(([key]) => !PLACE.has(key)));
  }

  return {
    /** Without verbosity only: the recording alone knows sizes and fees. */
    getrawmempool(view, params) {
      const [verbose = 'false'] = params;
      return params.length < 2 && verbose === 'false' ? JSON.stringify([...waitingIn(view)]) : null;
    },
    getrawtransaction(view, params) {
      const [txid, verbosity = '0'] = params;
      atMost(params, 2);
      const wanted = stringParam(txid)?.toLowerCase();
      const level = integerParam(verbosity);
      if (wanted === undefined || !isWrittenHash(wanted) || level === null) return null;
      const block = holder(view, wanted);
      if (block === undefined) {
        const text = view.atRecordedTip ? null : waiting(view, wanted);
        if (text !== null) return level === 0 ? (rawMember(text, 'hex') ?? null) : text;
        // Only the recording answers for the mempool, and for transactions that only the abandoned branch contained.
        if (view.atRecordedTip || (onOrphan.has(wanted) && view.orphansKnown)) return null;
        throw new RpcFailure(-5, 'No information available about transaction');
      }
      if (block.height === 0) throw new RpcFailure(-5, 'No information available about transaction');
      const text = verbose(view, wanted, block);
      if (text === null || level !== 0) return text;
      return rawMember(text, 'hex') ?? null;
    },
  };
}
