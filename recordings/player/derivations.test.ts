import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { elementTexts, rawMember } from '../../domain/json/raw-json.ts';
import { type RecordingView, type ViewPosition, viewChain } from './chain-view.ts';
import { createDerivations } from './derivations.ts';
import { readPairs } from './members.ts';
import { readGzip, readLines } from './read-lines.ts';
import { answerOf, loadRecordedCalls, readCases } from './recorded-calls.ts';
import { loadRecording } from './recording.ts';
import { RpcFailure, WrongParameterCount } from './rpc-failure.ts';

const folder = fileURLToPath(new URL('../private-network/', import.meta.url));
const recording = loadRecording(folder);
const calls = loadRecordedCalls(folder);
const derivations = createDerivations(recording, calls);

const member = (text: string, ...keys: string[]) =>
  keys.reduce((object, key) => rawMember(object, key) ?? 'null', text);
const view = (height: number, position: Partial<ViewPosition> = {}) =>
  viewChain(recording, { branch: 'main', height, orphansKnown: height >= recording.takeover, ...position });

/** Returns the text of the result, "error <code> <message>", or null when it cannot be derived. */
function derive(at: RecordingView, method: string, ...params: string[]): string | null {
  try {
    return derivations[method]?.(at, params) ?? null;
  } catch (error) {
    if (error instanceof RpcFailure) return `error ${error.code} ${error.message}`;
    if (error instanceof WrongParameterCount) return `error -1 ${helpOf(method)}`;
    throw error;
  }
}

const errorText = (error: string) => {
  const { code, message } = JSON.parse(error) as { code: number; message: string };
  return `error ${code} ${message}`;
};
const helpOf = (method: string) => JSON.parse(member(calls.helpError(method) ?? '{}', 'message')) as string;

describe('at the recorded tip', () => {
  // Three summaries contain members that follow from no block; at the tip the recorded answer is used.
  const incomplete = new Set(['getblockchaininfo', 'getinfo', 'getmininginfo']);
  /**
   * Recorded over some time, with other waiting transactions; the player knows only the transactions of the next block, and none at the
   * tip.
   */
  const OF_THE_MOMENT = 'getrawmempool';

  test('derived answers equal the recorded ones', () => {
    const compared = new Map<string, number>();
    const wrong: unknown[] = [];
    for (const recorded of readCases(folder)) {
      const method = JSON.parse(member(recorded.request, 'method')) as string;
      const params = elementTexts(member(recorded.request, 'params'));
      if (!('body' in recorded) || method === OF_THE_MOMENT) continue;
      if (incomplete.has(method) && params.length === 0) continue;
      const derived = derive(view(recording.tip), method, ...params);
      if (derived === null) continue;
      const answer = answerOf(recorded.body);
      const expected = 'result' in answer ? answer.result : errorText('error' in answer ? answer.error : '');
      if (derived !== expected) wrong.push([recorded.name, expected.slice(0, 200), derived.slice(0, 200)]);
      compared.set(method, (compared.get(method) ?? 0) + 1);
    }
    expect(wrong).toEqual([]);
    // Enough recorded cases were compared for each derivation.
    expect([...compared.keys(), OF_THE_MOMENT].sort()).toEqual(Object.keys(derivations).sort());
    for (const [method, count] of compared)
      expect(count, method).toBeGreaterThanOrEqual(method === 'getcurrency' ? 3 : 5);
  });

  test('the summaries equal the recorded ones except for omitted members', () => {
    const leftOut = {
      getblockchaininfo: ['difficulty'],
      getinfo: ['nextblocktime'],
      getmininginfo: [
        'currentblocksize',
        'currentblocktx',
        'averageblockfees',
        'difficulty',
        'stakingsupply',
        'pooledtx',
      ],
    };
    for (const [method, missing] of Object.entries(leftOut)) {
      const recorded = calls.find(method, '[]');
      const pairs = readPairs(recorded && 'result' in recorded ? recorded.result : '{}');
      const derived = readPairs(derive(view(recording.tip), method) ?? '{}');
      expect(derived).toEqual(pairs.filter(([key]) => !missing.includes(key)));
    }
  });

  test('blocks, headers, raw blocks and transactions equal the recorded ones', () => {
    const at = view(recording.tip);
    let transactions = 0;
    for (const line of readLines(join(folder, 'txs.jsonl.gz'))) {
      const row = line.toString('utf8');
      expect(derive(at, 'getrawtransaction', member(row, 'txid'), '1')).toBe(member(row, 'tx'));
      transactions++;
    }
    expect(transactions).toBe(1690);
    for (const file of ['blocks.jsonl.gz', 'orphans.jsonl.gz']) {
      for (const line of readLines(join(folder, file))) {
        const row = line.toString('utf8');
        const hash = member(row, 'hash');
        expect(derive(at, 'getblock', hash, '2')).toBe(member(row, 'block'));
        expect(derive(at, 'getblockheader', hash)).toBe(member(row, 'header'));
      }
    }
    for (const line of readLines(join(folder, 'blocks-raw.jsonl.gz'))) {
      const row = line.toString('utf8');
      expect(derive(at, 'getblock', `"${member(row, 'height')}"`, '0')).toBe(member(row, 'hex'));
    }
  });

  test('a coinbase recorded only inside its block is complete', () => {
    const verbose = derive(view(recording.tip), 'getrawtransaction', `"${recording.main[7]?.txids[0]}"`, '1') ?? '';
    const recorded = derive(view(recording.tip), 'getrawtransaction', `"${recording.main[50]?.txids[0]}"`, '1') ?? '';
    const keys = (text: string) => readPairs(text).map(([key]) => key);
    expect(keys(verbose)).toEqual(keys(recorded));
    expect(Object.keys(JSON.parse(verbose).vout[0])).toEqual(Object.keys(JSON.parse(recorded).vout[0]));
    expect(JSON.parse(verbose)).toMatchObject({ height: 7, confirmations: recording.tip - 6 });
  });
});

describe('below the recorded tip', () => {
  test('identities equal those of the daemon, at the tip of that time and by height', () => {
    const truth = readGzip(join(folder, 'truth', 'identities.json.gz'));
    let compared = 0;
    for (const identity of elementTexts(truth)) {
      const id = member(identity, 'id');
      for (const at of elementTexts(member(identity, 'at'))) {
        const height = Number(member(at, 'height'));
        if (height > recording.tip) continue;
        const error = rawMember(at, 'error');
        const expected = error === undefined ? member(at, 'result') : errorText(error);
        expect(derive(view(height), 'getidentity', id)).toBe(expected);
        expect(derive(view(recording.tip), 'getidentity', id, String(height))).toBe(expected);
        expect(derive(view(Math.min(height + 300, recording.tip)), 'getidentity', id, String(height))).toBe(expected);
        compared++;
      }
    }
    expect(compared).toBeGreaterThan(60);
  });

  test('identities that were recorded while the chain grew', () => {
    const special = readGzip(join(folder, 'truth', 'special.json.gz'));
    const seen: [number, string][] = elementTexts(member(special, 'timelock')).map((stage) => [
      Number(member(stage, 'height')),
      member(stage, 'identity'),
    ]);
    seen.push([276, member(special, 'mempool_identity', 'confirmed')]);
    for (const [height, shown] of seen) {
      const name = member(shown, 'fullyqualifiedname');
      expect(JSON.parse(derive(view(height), 'getidentity', name) ?? '')).toEqual(JSON.parse(shown));
    }
    expect(seen.length).toBe(10);
  });

  test('the state of a basket at every recorded height', () => {
    let compared = 0;
    for (const line of readLines(join(folder, 'series', 'currencystate.jsonl.gz'))) {
      const row = line.toString('utf8');
      const height = Number(member(row, 'height'));
      if (height % 37 !== 0) continue;
      const [currency, result] = [member(row, 'currency'), member(row, 'result')];
      expect(derive(view(height), 'getcurrencystate', currency)).toBe(result);
      expect(derive(view(height), 'getcurrencystate', currency, String(height))).toBe(result);
      expect(derive(view(height - 1), 'getcurrencystate', currency, `"${height}"`)).toBeNull();
      compared++;
    }
    expect(compared).toBeGreaterThan(100);
  });

  test('right after the reorganisation: the tips, an address, an identity and a basket of that time', () => {
    const reorg = readGzip(join(folder, 'truth', 'reorg.json.gz'));
    const at = view(recording.takeover);
    const parsed = (text: string | null) => JSON.parse(text ?? 'null') as unknown;
    const truth = (key: string) => parsed(member(reorg, key));
    expect(parsed(derive(at, 'getchaintips'))).toEqual(truth('chaintips_after_reconsider'));
    expect(parsed(derive(at, 'getbestblockhash'))).toBe(truth('tip_after_reconsider'));
    const address = `{"addresses":[${member(reorg, 'address')}]}`;
    expect(derive(at, 'getaddressbalance', address)).toBeNull(); // not one of the recorded addresses
    expect(parsed(derive(at, 'getidentity', '"bob@"'))).toEqual(truth('identity_after'));
    expect(parsed(derive(at, 'getcurrencystate', '"PureTri"'))).toEqual(truth('first_branch_basket'));
  });

  test('balances of the recorded addresses follow from their movements', () => {
    const rows = elementTexts(readGzip(join(folder, 'truth', 'address.json.gz')));
    for (const row of rows) {
      const query = `{"addresses":[${member(row, 'address')}]}`;
      expect(derive(view(recording.tip), 'getaddressbalance', query)).toBe(member(row, 'getaddressbalance'));
      expect(derive(view(recording.tip), 'getaddresstxids', query)).toBe(member(row, 'getaddresstxids'));
    }
    expect(rows.length).toBe(53);
    const miner = '{"addresses":["RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V"]}';
    expect(derive(view(1), 'getaddressbalance', miner)).toContain('"balance":5000000600000000,');
    expect(derive(view(0), 'getaddresstxids', miner)).toBe('[]');
    expect(derive(view(50), 'getaddressdeltas', miner)).not.toContain('"height":51,');
  });

  test('imports and exports up to the tip', () => {
    for (const [method, key] of [
      ['getimports', 'importheight'],
      ['getexports', 'height'],
    ] as const) {
      const heights = (text: string | null) => elementTexts(text ?? '[]').map((row) => Number(member(row, key)));
      const all = heights(derive(view(recording.tip), method, '"PureTri"'));
      const early = heights(derive(view(600), method, '"puretri"'));
      expect(early).toEqual(all.filter((height) => height <= 600));
      expect(early.length).toBeGreaterThan(0);
      expect(early.length).toBeLessThan(all.length);
      expect(heights(derive(view(600), method, '"PureTri"', '400', '5000'))).toEqual(early.filter((h) => h >= 400));
    }
    expect(derive(view(100), 'getimports', '"PureTri"')).toBe('null');
    expect(derive(view(100), 'getexports', '"PureTri"')).toBe('[]');
  });

  test('the chain summary follows the tip', () => {
    const info = JSON.parse(derive(view(700), 'getblockchaininfo') ?? '') as Record<string, unknown>;
    const block = JSON.parse(recording.main[700]?.block() ?? '') as Record<string, unknown>;
    const next = JSON.parse(recording.main[701]?.block() ?? '') as Record<string, unknown>;
    expect(info).toMatchObject({ blocks: 700, headers: 700, bestblockhash: block.hash, difficulty: next.difficulty });
    expect(info).toMatchObject({ chainwork: block.chainwork, chainstake: block.chainstake });
    expect(JSON.stringify(info.softforks)).toContain('"enforce":{"status":false,"found":700,"required":750');
    expect(JSON.parse(derive(view(700), 'getinfo') ?? '')).toMatchObject({ blocks: 700, difficulty: block.difficulty });
    expect(JSON.parse(derive(view(700), 'getmininginfo') ?? '')).toMatchObject({ blocks: 700 });
    expect(derive(view(700), 'getmininginfo')).not.toContain('stakingsupply');
    expect(derive(view(200), 'getnetworkhashps', '50')).toBe('1194'); // recorded for 50 blocks up to height 200
  });

  test('a transaction waits right before its block, and is unknown before that', () => {
    const [block] = recording.main.filter(({ txids }) => txids.length > 3);
    const txid = `"${block?.txids[1]}"`;
    const height = block?.height ?? 0;
    expect(derive(view(height - 2), 'getrawtransaction', txid, '1')).toMatch(/^error -5 /);
    const waiting = derive(view(height - 1), 'getrawtransaction', txid, '1') ?? '';
    expect(JSON.parse(waiting)).not.toHaveProperty('blockhash');
    expect(derive(view(height - 1), 'getrawmempool')).toContain(txid);
    expect(JSON.parse(derive(view(height + 4), 'getrawtransaction', txid, '1') ?? '')).toMatchObject({
      confirmations: 5,
    });
  });
});

describe('spent outputs', () => {
  interface Spendable {
    readonly txid: string;
    readonly vin: readonly { readonly txid?: string; readonly vout?: number }[];
    readonly vout: readonly {
      readonly n: number;
      readonly spentTxId?: string;
      readonly spentIndex?: number;
      readonly spentHeight?: number;
    }[];
  }

  /** Checks that every spent output names its spender on the shown chain. */
  function checkSpent(at: RecordingView): number {
    const blocks: { readonly height: number; readonly tx: readonly Spendable[] }[] = [];
    for (let height = 0; height <= at.height; height++) {
      blocks.push(JSON.parse(derive(at, 'getblock', `"${height}"`, '2') ?? ''));
    }
    const spenders = new Map<string, unknown>();
    for (const { height, tx } of blocks) {
      for (const { txid, vin } of tx) {
        vin.forEach((input, index) => {
          if (input.txid) spenders.set(`${input.txid}:${input.vout}`, [txid, index, height]);
        });
      }
    }
    let spent = 0;
    for (const { tx } of blocks) {
      for (const { txid, vout } of tx) {
        for (const { n, spentTxId, spentIndex, spentHeight } of vout) {
          const shown = spentTxId === undefined ? undefined : [spentTxId, spentIndex, spentHeight];
          expect(shown, `${txid}:${n}`).toEqual(spenders.get(`${txid}:${n}`));
          if (shown) spent++;
        }
      }
    }
    return spent;
  }

  test('on the main branch', () => {
    expect(checkSpent(view(400))).toBeGreaterThan(100);
    expect(checkSpent(view(recording.takeover))).toBeGreaterThan(500);
  });

  test('on the abandoned branch, where other transactions spend them', () => {
    const orphanTip = recording.fork + recording.orphans.length;
    const orphan = view(orphanTip, { branch: 'orphan', orphansKnown: true });
    expect(checkSpent(orphan)).toBeGreaterThan(500);
    // The check is meaningful only if shared blocks look different from the two branches.
    const differs = (height: number) => {
      const block = (at: RecordingView) =>
        JSON.stringify(JSON.parse(derive(at, 'getblock', `"${height}"`, '2') ?? '').tx);
      return block(orphan) !== block(view(orphanTip));
    };
    expect(Array.from({ length: recording.fork }, (_, index) => recording.fork - index).some(differs)).toBe(true);
  });

  test('a transaction of both branches is reported in its block of the shown branch', () => {
    const shared = recording.orphans[0]?.txids.find((txid) => recording.main[recording.fork + 1]?.txids.includes(txid));
    const text = derive(view(850, { branch: 'orphan', orphansKnown: true }), 'getrawtransaction', `"${shared}"`, '1');
    const block = JSON.parse(recording.orphans[0]?.block() ?? '') as { hash: string; time: number };
    expect(JSON.parse(text ?? '')).toMatchObject({
      blockhash: block.hash,
      height: 846,
      confirmations: 5,
      time: block.time,
    });
  });

  test('gives no answer about state that the abandoned branch may have changed', () => {
    const orphan = view(850, { branch: 'orphan', orphansKnown: true });
    expect(derive(orphan, 'getidentity', '"bob@"')).toBeNull(); // updated on both branches
    expect(derive(orphan, 'getidentity', '"bob@"', '800')).toBe(derive(view(800), 'getidentity', '"bob@"'));
    expect(derive(orphan, 'getcurrencystate', '"PureTri"')).toBeNull();
    expect(derive(orphan, 'getimports', '"PureTri"')).toBeNull();
    expect(derive(orphan, 'getaddressbalance', '{"addresses":["RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V"]}')).toBeNull();
  });
});

test('the recording matches network.json', () => {
  const network = JSON.parse(readFileSync(join(folder, 'network.json'), 'utf8')) as { tip: number; tiphash: string };
  expect([recording.tip, recording.main[recording.tip]?.hash]).toEqual([network.tip, network.tiphash]);
  expect([recording.fork, recording.takeover, recording.orphans.length]).toEqual([845, 852, 9]);
});
