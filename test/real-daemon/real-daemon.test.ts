/** Runs the comparison with a real daemon against the recorded daemon: it finds no differences. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { type RecordedNode, startRecordedNode } from '../../recordings/player/recorded-node.ts';
import { RECORDING } from '../api/running-service.ts';
import { LIVE_COMPARISONS } from './live-comparisons.ts';
import { tryDaemon } from './real-daemon.ts';

const MINUTES = 60_000;
const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const NEW_BLOCKS = 3;

async function startNode(): Promise<RecordedNode> {
  const node = await startRecordedNode({
    folder: RECORDING,
    user: 'test',
    password: 'secret',
    zmq: 'tcp://127.0.0.1:*',
  });
  closers.push(() => node.stop());
  node.back(NEW_BLOCKS);
  return node;
}

async function run(
  node: RecordedNode,
  samples: number,
  blocks: number,
  onLine: (line: string) => void = () => undefined,
) {
  const folder = await mkdtemp(join(tmpdir(), 'verustream-real-'));
  closers.push(() => rm(folder, { recursive: true, force: true }));
  const lines: string[] = [];
  const print = (line: string) => {
    lines.push(line);
    onLine(line);
  };
  const logger = pino({ level: 'silent' });
  const { signal } = new AbortController();
  const differing = await tryDaemon({ rpc: node.url, zmq: node.zmq, folder, samples, blocks, logger, print, signal });
  return { differing, text: lines.join('\n') };
}

it('compares, times and finds no difference', { timeout: 5 * MINUTES }, async () => {
  const node = await startNode();
  const { differing, text } = await run(node, 200, NEW_BLOCKS, (line) => {
    if (!line.startsWith('waiting')) return;
    const stepping = setInterval(() => {
      node.step();
      if (node.ended) clearInterval(stepping);
    }, 500);
  });
  expect(text).toMatch(
    /^.* follows VRSCTEST, version 1\.2\.16.*\nbare: 8 connections.*\n[\s\S]*sync: \d+ blocks into the stores/,
  );
  for (const { method } of LIVE_COMPARISONS)
    expect(text).toMatch(new RegExp(`  ${method}: [1-9]\\d* compared, 0 differ`));
  expect(text).toMatch(/a block reaches a client in \d+ ms/);
  expect(text).toMatch(/the ZMQ publisher is heard/);
  expect(differing).toBe(0);
});
