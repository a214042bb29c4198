/** The tailer on the recording of a real daemon, through its reorganisation and with injected faults. */
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { rawMember } from '../../domain/json/raw-json.ts';
import { readLines } from '../../recordings/player/read-lines.ts';
import {
  type RecordedNode,
  type RecordedNodeOptions,
  startRecordedNode,
} from '../../recordings/player/recorded-node.ts';
import { decodeBlocksRecord } from '../../schemas/log-codec.ts';
import { createFaultyLog, type FaultyLog } from '../../test/support/pipeline/tailer/faulty-log.ts';
import { type FoldedChain, foldBlocks } from '../../test/support/pipeline/tailer/fold-blocks.ts';
import {
  CHAIN,
  type RunningTailer,
  startTailer,
  type TailerTestOptions,
} from '../../test/support/pipeline/tailer/tail-bench.ts';

const folder = fileURLToPath(new URL('../../recordings/private-network/', import.meta.url));
const FINALITY = 100;

/** The text of each block as the real daemon printed it, by height. */
const recorded: string[] = [];
const open: (() => Promise<void>)[] = [];

beforeAll(() => {
  for (const line of readLines(`${folder}blocks.jsonl.gz`)) {
    recorded.push(rawMember(line.toString('utf8'), 'block') ?? '');
  }
});

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function setUp(options: Partial<RecordedNodeOptions>): Promise<{ node: RecordedNode; log: FaultyLog }> {
  const node = await startRecordedNode({ folder, user: 'user', password: 'password', ...options });
  open.push(() => node.stop());
  const log = await createFaultyLog();
  open.push(() => log.remove());
  return { node, log };
}

function tail(node: RecordedNode, log: FaultyLog, options: TailerTestOptions = {}): RunningTailer {
  const tailer = startTailer({ rpc: node.url }, log, {
    finalityDepth: FINALITY,
    ended: () => node.ended,
    retry: { minMs: 2, maxMs: 50 },
    ...options,
  });
  open.push(() => tailer.stop());
  return tailer;
}

async function fold(log: FaultyLog): Promise<FoldedChain> {
  return foldBlocks(await log.blocks(CHAIN));
}

async function newestHash(log: FaultyLog): Promise<string | undefined> {
  const last = await log.last('blocks', CHAIN);
  return last ? decodeBlocksRecord(last.payload).hash : undefined;
}

const texts = ({ blocks }: FoldedChain): string[] => blocks.map(({ block }) => Buffer.from(block).toString('utf8'));

/** Returns the heights at which two lists of blocks differ: the texts are too long for a test report. */
function differing(held: readonly string[], expected: readonly string[]): number[] {
  const heights = Array.from({ length: Math.max(held.length, expected.length) }, (_, height) => height);
  return heights.filter((height) => held[height] !== expected[height]);
}

/** Removes members that depend on the time of the call: confirmations, the next block, and the spender of an output. */
function timeless(text: string): string {
  return text
    .replace(/"confirmations":-?\d+,/, '')
    .replace(/,"nextblockhash":"[0-9a-f]{64}"/, '')
    .replace(/,"spentTxId":"[0-9a-f]{64}","spentIndex":\d+,"spentHeight":-?\d+/g, '');
}

describe('on the recording', () => {
  it('copies the chain at its tip byte for byte as the real daemon printed it', async () => {
    const { node, log } = await setUp({});
    const tailer = tail(node, log);
    await tailer.shows(({ state, height }) => state === 'ended' && height === node.tip);
    expect(recorded).toHaveLength(1552);
    expect(differing(texts(await fold(log)), recorded)).toEqual([]);
    expect(tailer.statuses.some(({ state }) => state === 'waiting' || state === 'stopped')).toBe(false);
  });

  it('follows the reorganisation to the tip although the daemon fails, truncates, garbles and hangs', async () => {
    const { node, log } = await setUp({ startHeight: 0, historyHeight: 700 });
    node.setFaults({
      errorRate: 0.05,
      closeRate: 0.03,
      cutRate: 0.03,
      garbageRate: 0.03,
      busyRate: 0.03,
      timeoutRate: 0.002,
      timeoutSeconds: 60,
      seed: 5,
    });
    const hangs = { callTimeoutMs: 2000, blockTimeoutMs: 1000 };
    let tailer = tail(node, log, hangs);
    const reach = async (): Promise<void> => {
      while ((await newestHash(log)) !== node.hash) await new Promise((resolve) => setTimeout(resolve, 2));
    };
    node.step();
    await reach();
    for (let moves = 0; node.height !== node.fork + 9; moves += 1) {
      node.step();
      if (moves % 40 === 0) await reach();
    }
    await reach(); // the whole abandoned branch
    await tailer.stop();
    node.step();
    tailer = tail(node, log, hangs);
    await reach(); // restarted on the other branch, two blocks lower
    expect(node.height).toBe(node.fork + 7);
    expect((await fold(log)).rewinds).toEqual([{ height: node.fork, fromHeight: node.fork + 9 }]);
    while (!node.ended) node.step();
    await tailer.shows(({ state }) => state === 'ended');

    const folded = await fold(log);
    expect(differing(texts(folded).map(timeless), recorded.map(timeless))).toEqual([]);
    expect(folded.rewinds).toHaveLength(1);
    expect(await log.blocks(CHAIN)).toHaveLength(node.tip + 1 + 9 + 1);
  });

  it('stops for a node that has lost 150 blocks, more than finality, rewinds nothing and continues when it has them again', async () => {
    const { node, log } = await setUp({});
    const tailer = tail(node, log, { ended: () => false });
    await tailer.shows(({ state, height }) => state === 'following' && height === node.tip);
    node.back(150);
    const status = await tailer.shows(({ state }) => state === 'stopped');
    expect(status).toMatchObject({
      height: node.tip,
      targetHeight: node.tip - 150,
      error: { code: 'daemon_lost_blocks' },
    });
    node.advanceTo(node.tip);
    await tailer.shows(({ state }) => state === 'following');
    expect(await log.blocks(CHAIN)).toHaveLength(node.tip + 1);
  });

  it('refuses a recording of another chain', async () => {
    const { node, log } = await setUp({});
    const tailer = startTailer({ rpc: node.url }, log, { rootCurrency: 'VRSC' });
    open.push(() => tailer.stop());
    const status = await tailer.shows(({ state }) => state === 'stopped');
    expect(status.error).toMatchObject({ code: 'wrong_chain', message: expect.stringContaining('VRSCTEST') });
  });
});
