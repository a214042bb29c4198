/** Every change that may change an answer changes its tag. */
import { expect, it } from 'vitest';
import type { ChainConfig } from '../../schemas/config.ts';
import { readServiceState, type StateRow } from './service-state.ts';
import { stateScope } from './state-scope.ts';

const row = (stage: string, chain: string, position: bigint): StateRow => ({
  generation: 1,
  version: '1',
  stage,
  chain,
  position,
  height: Number(position),
  hash: 'aa',
  clock: 100n,
  redrives: 0n,
});
const SCOPE = { release: '1', chains: new Set(['a', 'b']) };
const ROWS = [row('derive', 'a', 9n), row('derive', 'b', 5n), row('price', 'a', 4n), row('price', 'b', 4n)];

it.each<[string, readonly StateRow[]]>([
  ['another block', [row('derive', 'a', 10n), ...ROWS.slice(1)]],
  ['a price', [...ROWS.slice(0, 3), row('price', 'b', 5n)]],
  ['a provisional price', [...ROWS, row('price_ahead', 'a', 9n)]],
  ['a newer provisional price', [...ROWS, row('price_ahead', 'a', 8n)]],
  ['the same position on another chain', [...ROWS, row('price_ahead', 'b', 9n)]],
  ['a check of the guard', [...ROWS, row('price_guard', '*', 0n)]],
  ['a redrive', ROWS.map((each) => ({ ...each, redrives: 1n }))],
  ['a swap', ROWS.map((each) => ({ ...each, generation: 2 }))],
])('%s', (_name, rows) => {
  expect(readServiceState(rows, SCOPE).tag).not.toBe(readServiceState(ROWS, SCOPE).tag);
});

it('settings that answers depend on change the tags, others do not', () => {
  const chain: ChainConfig = {
    name: 'a',
    rpc: 'http://user:secret@host',
    rootCurrency: 'A',
    networkRoot: 'A',
    stableAnchors: [],
    blockSeconds: 60,
    finalityDepth: 100,
    minBasketAge: 1000,
    requireEmptyWallet: false,
  };
  const marks = [{ from: 1, to: 2, chains: ['a'], text: 'a mark', link: null }];
  const tagOf = (changed: Partial<Parameters<typeof stateScope>[1]>) =>
    readServiceState(ROWS, stateScope('1', { chains: [chain], marks, minListedDepthUsd: 10_000, ...changed })).tag;
  const before = tagOf({});
  expect(tagOf({ chains: [{ ...chain, rpc: 'http://user:other@host' }] })).toBe(before);
  for (const changed of [
    { marks: [] },
    { minListedDepthUsd: 1 },
    { chains: [{ ...chain, finalityDepth: 7 }] },
    { chains: [{ ...chain, stableAnchors: ['i'] }] },
  ])
    expect(tagOf(changed), JSON.stringify(changed)).not.toBe(before);
});

it('the tag of the facts of a chain moves with its blocks and with redrives, not with prices and other chains', () => {
  const tagOf = (rows: readonly StateRow[]) => readServiceState(rows, SCOPE).factsTag('a');
  const before = tagOf(ROWS);
  const same = [...ROWS.slice(0, 1), row('derive', 'b', 6n), row('price', 'a', 5n), row('price_ahead', 'b', 6n)];
  expect(tagOf(same)).toBe(before);
  expect(tagOf([...ROWS, row('price_guard', '*', 0n)])).toBe(before);
  expect(tagOf([row('derive', 'a', 10n), ...ROWS.slice(1)])).not.toBe(before);
  expect(tagOf([{ ...row('derive', 'a', 9n), hash: 'bb' }, ...ROWS.slice(1)])).not.toBe(before);
  expect(tagOf(ROWS.map((each) => ({ ...each, redrives: 1n })))).not.toBe(before);
});

it('provisional positions are separate from complete ones', () => {
  const { priced, pricedAhead } = readServiceState([...ROWS, row('price_ahead', 'a', 9n)], SCOPE);
  expect([priced.get('a')?.height, pricedAhead.get('a')?.height, pricedAhead.get('b')]).toEqual([4, 9, undefined]);
});

it('leaves out chains that are not configured', () => {
  const gone = ['derive', 'price', 'price_ahead', 'told'].map((stage) => row(stage, 'gone', 7n));
  const { leftOut, derived, priced, pricedAhead, published } = readServiceState([...ROWS, ...gone], SCOPE);
  expect(leftOut).toEqual(['gone']);
  for (const chains of [derived, priced, pricedAhead, published]) expect(chains.has('gone')).toBe(false);
});
