/** The player on recordings that contain only blocks. */
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { createAnswerCall } from './answer-call.ts';
import { viewChain } from './chain-view.ts';
import { loadRecordedCalls } from './recorded-calls.ts';
import { loadRecording } from './recording.ts';
import { RpcFailure } from './rpc-failure.ts';

describe.each([
  ['root', 'VRSCTEST', 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq'],
  ['pchain', 'pchain', 'iP1Gzozfm1VJg8NFH7zcBjbYmTW4UafYbV'],
])('%s', (folder, name, chainid) => {
  const recording = loadRecording(fileURLToPath(new URL(`../pbaas/${folder}/`, import.meta.url)));
  const answer = createAnswerCall(recording, loadRecordedCalls(recording.folder));

  function ask(height: number, method: string, ...params: unknown[]): string {
    const view = viewChain(recording, { branch: 'main', height, orphansKnown: true });
    const texts = params.map((param) => JSON.stringify(param));
    return answer(view, method, `[${texts.join()}]`, texts);
  }

  test('at its tip each block is the recorded text', () => {
    expect(recording.main.length).toBeGreaterThan(200);
    for (const { height, block } of recording.main)
      expect(ask(recording.tip, 'getblock', String(height), 2)).toBe(block());
  });

  test('below its tip, answers contain nothing of later blocks', () => {
    for (let height = 1; height < recording.tip; height += 40) {
      const block = JSON.parse(ask(height, 'getblock', String(height), 2)) as Record<string, unknown>;
      expect(block).toMatchObject({ height, confirmations: 1, hash: recording.main[height]?.hash });
      expect(block).not.toHaveProperty('nextblockhash');
      const spent = [...JSON.stringify(block).matchAll(/"spentHeight":(\d+)/g)].map(([, at]) => Number(at));
      expect(Math.max(0, ...spent)).toBeLessThanOrEqual(height);
      expect(() => ask(height, 'getblock', String(height + 1), 2)).toThrow(RpcFailure);
    }
  });

  test('it reports its chain and its height', () => {
    const [block] = recording.main.slice(200);
    const info = JSON.parse(ask(200, 'getblockchaininfo')) as Record<string, unknown>;
    expect(info).toMatchObject({ name, chainid, blocks: 200, headers: 200, bestblockhash: block?.hash });
    const { tiptime, ...where } = JSON.parse(ask(200, 'getinfo')) as Record<string, unknown>;
    expect(where).toMatchObject({ name, chainid, blocks: 200, longestchain: 200 });
    expect(tiptime).toBe((JSON.parse(block?.header() ?? '{}') as { time: number }).time);
    const { networkhashps } = JSON.parse(ask(200, 'getmininginfo')) as { networkhashps: number };
    expect(networkhashps).toBeGreaterThan(0);
    expect(ask(200, 'getbestblockhash')).toBe(JSON.stringify(block?.hash));
    expect(ask(200, 'getrawmempool')).toBe('[]');
  });

  test('it returns the definitions that its blocks contain', () => {
    for (const key of ['pchain', 'iP1Gzozfm1VJg8NFH7zcBjbYmTW4UafYbV']) {
      const definition = JSON.parse(ask(200, 'getcurrency', key)) as Record<string, unknown>;
      expect(definition).toMatchObject({ name: 'pchain', options: 264, currencies: expect.any(Array) });
    }
  });

  test('it invents no answer that does not follow from blocks', () => {
    expect(() => ask(200, 'getcurrency', 'usdx')).toThrow('not in the recording at height 200: getcurrency');
    expect(() => ask(0, 'getcurrency', 'pchain')).toThrow('not in the recording at height 0: getcurrency');
    expect(() => ask(200, 'getblock', '5', 0)).toThrow('not in the recording: the raw block');
  });
});
