/**
 * Summaries of the chain at the released tip. Values that follow from no block (mempool, staking supply …) are omitted below the recorded
 * tip.
 */
import { rawMember } from '../../domain/json/raw-json.ts';
import type { RecordingView } from './chain-view.ts';
import { atMost, type Derivations, type Derive, integerParam } from './derivation.ts';
import { type MemberPair, mapElements, printPairs, readPairs, replaceMembers } from './members.ts';
import type { RecordedCalls } from './recorded-calls.ts';
import type { RecordedBlock } from './recording.ts';

const LOOKUP_BLOCKS = 120;

const own = (block: RecordedBlock, key: string): string => {
  const value = rawMember(block.header(), key);
  if (value === undefined) throw new Error(`block ${block.hash} has no ${key}`);
  return value;
};

/** The difficulty of the next work block, taken from the next recorded block; null after the last block of the abandoned branch. */
function nextDifficulty({ recording, branch, height, best }: RecordingView): string | null {
  const { main, orphans, fork } = recording;
  const next = branch === 'orphan' && height >= fork ? orphans[height - fork] : main[best.height + 1];
  return next === undefined ? null : own(next, 'difficulty');
}

/** Work of the last blocks divided by the span of their times, as getnetworkhashps computes it. */
function hashesPerSecond(view: RecordingView, lookup: number, height: number): string | null {
  const end = height < 0 || height > view.height ? view.height : height;
  const count = Math.min(lookup, end);
  if (count < 1) return null;
  const blocks: RecordedBlock[] = [];
  for (let at = end - count; at <= end; at++) {
    const block = view.at(at);
    if (block === undefined) return null;
    blocks.push(block);
  }
  const times = blocks.map((block) => Number(own(block, 'time')));
  const span = Math.max(...times) - Math.min(...times);
  const work = (block: RecordedBlock | undefined) => BigInt(`0x${JSON.parse(block ? own(block, 'chainwork') : '"0"')}`);
  return span === 0 ? '0' : String((work(blocks.at(-1)) - work(blocks[0])) / BigInt(span));
}

/** The value pools after a block, without the block's deltas. */
function valuePools(block: RecordedBlock): string {
  const pools = rawMember(block.block(), 'valuePools') ?? '[]';
  const pool = (text: string) => replaceMembers(text, { valueDelta: null, valueDeltaZat: null });
  return mapElements(pools, pool);
}

/** Counts those of the last `window` blocks that have the version a fork requires; only the genesis block is too old. */
function softForks(recorded: string, height: number): string {
  const rule = (text: string) => {
    const found = Math.min(height, Number(rawMember(text, 'window')));
    const status = found >= Number(rawMember(text, 'required'));
    return replaceMembers(text, { status: String(status), found: String(found) });
  };
  const fork = (text: string) =>
    printPairs(
      readPairs(text).map(
        ([key, value]): MemberPair => [key, key === 'enforce' || key === 'reject' ? rule(value) : value],
      ),
    );
  return mapElements(recorded, fork);
}

function upgrades(recorded: string, height: number): string {
  const upgrade = (text: string) =>
    replaceMembers(text, { status: Number(rawMember(text, 'activationheight')) <= height ? '"active"' : '"pending"' });
  return printPairs(readPairs(recorded).map(([key, value]): MemberPair => [key, upgrade(value)]));
}

/** The summary as recorded at the tip. */
export function recordedSummary(calls: RecordedCalls, method: string): string {
  const answer = calls.find(method, '[]');
  if (answer === undefined || !('result' in answer)) throw new Error(`the recording has no ${method}`);
  return answer.result;
}

/** `recorded` returns the text of a summary, in which the values of a view's tip are replaced. */
export function createChainInfoDerivations(recorded: (method: string) => string): Derivations {
  function blockchainInfo(view: RecordingView): string {
    const text = recorded('getblockchaininfo');
    const { best, height } = view;
    return replaceMembers(text, {
      blocks: String(height),
      headers: String(height),
      bestblockhash: `"${best.hash}"`,
      difficulty: nextDifficulty(view),
      chainwork: own(best, 'chainwork'),
      chainstake: own(best, 'chainstake'),
      valuePools: valuePools(best),
      softforks: softForks(rawMember(text, 'softforks') ?? '[]', height),
      upgrades: upgrades(rawMember(text, 'upgrades') ?? '{}', height),
      ...(height === 0 ? { consensus: null } : {}),
    });
  }

  function chainTips(view: RecordingView): string {
    const { recording, best, branch, orphansKnown } = view;
    const tip = (block: RecordedBlock, branchlen: number, status: string) =>
      ({ height: block.height, hash: block.hash, branchlen, status }) as const;
    const tips = [tip(best, 0, 'active')];
    const last = recording.orphans.at(-1);
    if (branch === 'main' && orphansKnown && last) tips.push(tip(last, recording.orphans.length, 'valid-fork'));
    return JSON.stringify(tips.sort((a, b) => b.height - a.height));
  }

  const summary =
    (print: (view: RecordingView) => string | null): Derive =>
    (view, params) => {
      atMost(params, 0);
      return print(view);
    };

  return {
    getblockchaininfo: summary(blockchainInfo),
    getdifficulty: summary(nextDifficulty),
    getchaintips: summary(chainTips),
    getinfo: summary((view) =>
      replaceMembers(recorded('getinfo'), {
        blocks: String(view.height),
        longestchain: String(view.height),
        tiptime: own(view.best, 'time'),
        nextblocktime: null,
        difficulty: own(view.best, 'difficulty'),
      }),
    ),
    getmininginfo: summary((view) =>
      replaceMembers(recorded('getmininginfo'), {
        blocks: String(view.height),
        currentblocksize: null,
        currentblocktx: null,
        averageblockfees: null,
        difficulty: nextDifficulty(view),
        stakingsupply: null,
        networkhashps: hashesPerSecond(view, LOOKUP_BLOCKS, view.height),
        pooledtx: null,
      }),
    ),
    getnetworkhashps(view, [lookup = String(LOOKUP_BLOCKS), height = '-1', ...rest]) {
      const [blocks, end] = [integerParam(lookup), integerParam(height)];
      if (blocks === null || blocks < 1 || end === null || rest.length > 0) return null;
      return hashesPerSecond(view, blocks, end);
    },
  };
}
