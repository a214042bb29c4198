/**
 * Three chains, of which one stands still for ten days: volumes, trades, fees, candles, changes and charts of the others follow their own
 * blocks, are marked as provisional, and are in the end what they would have been without the standstill.
 */

import { LosslessNumber } from 'lossless-json';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi } from '../../api/server.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import { createVerusdClient } from '../../infra/verusd/verusd-client.ts';
import { type BotState, createBotState } from '../stream-check/bot-state.ts';
import { placeOf, UNDO_OF_PRICES } from '../stream-check/history.ts';
import { retimed } from '../support/pipeline/price/branches.ts';
import type { FedBlock } from '../support/pipeline/price/facts-feed.ts';
import { createPriceWorld, type PriceWorld } from '../support/pipeline/price/price-world.ts';
import { blockOf, slowChains } from '../support/pipeline/price/slow-chains.ts';
import { createClient, type TestClient } from './client.ts';
import { chainOf, configOf } from './running-service.ts';
import { beginningOf, createSubscriber, hearAll } from './stamps-subscriber.ts';
import type { LooseJson } from './truth.ts';

const DAY = 86_400;
const { first, second, chains: pair } = slowChains();
const third = retimed(first, ({ time }, height) => time + (height % 5 === 0 ? 3600 : 0));
const chains = [...pair, { ...pair[0], name: 'third', minBasketAge: 40 }];
/** Blocks of the third chain until it stands still. */
const STALLED = 170;
const logger = pino({ level: process.env.TEST_LOG_LEVEL ?? 'silent' });

/** Heartbeats carry the cursor that shows when a subscriber has received every record. */
const PUSH = { heartbeatMs: 200 };
const NAMES = chains.map(({ name }) => name);
const clockOf = (block: FedBlock | undefined) => blockOf(block).clock;
const ends: Readonly<Record<string, number>> = {
  vrsc: clockOf(first.at(-1)),
  twin: clockOf(second.at(-1)),
  third: clockOf(third[STALLED - 1]),
};
const newest = Math.max(...Object.values(ends));
const line = ends.third ?? 0;
/** Time of the first block that the third chain has not passed. */
const beyondOf = (blocks: readonly FedBlock[]) => blockOf(blocks.find((block) => clockOf(block) >= line)).time;

async function worldOf(fed: readonly (readonly FedBlock[])[]): Promise<PriceWorld> {
  const world = await createPriceWorld({ chains, cutover: 0, minBasketDepthUsd: 1000, withStates: true });
  for (const [index, blocks] of fed.entries()) await world.feeds[index]?.append(blocks);
  await world.run();
  return world;
}

async function ask<T>({ stores, log }: PriceWorld, work: (client: TestClient, port: number) => Promise<T>): Promise<T> {
  const rpc = 'http://127.0.0.1:1';
  const configured = chains.map(({ name, stableAnchors, finalityDepth }) => {
    return chainOf({ name, rpc, rootCurrency: name === 'vrsc' ? 'VRSCTEST' : name, stableAnchors, finalityDepth });
  });
  const config = { ...configOf(configured), roles: ['serve'] as const };
  const daemons = new Map(chains.map(({ name }) => [name, createVerusdClient({ rpc, chain: name, logger })]));
  const { signal } = new AbortController();
  const api = await startApi({
    config,
    release: 'test',
    stores,
    topics: createTopicReader(log),
    daemons,
    logger,
    signal,
    push: PUSH,
  });
  try {
    return await work(
      createClient(() => `http://127.0.0.1:${api.port}`),
      api.port,
    );
  } finally {
    await api.close();
    for (const daemon of daemons.values()) await daemon.close();
  }
}

const LISTS = [
  '/api/market/currencies',
  '/api/market/baskets',
  '/api/market/pairs',
  '/api/market/volume',
  '/api/market/volume?period=weekly',
  '/api/market/volume?period=monthly',
  '/api/tickers/coingecko',
  '/api/tickers/coinmarketcap',
  '/api/tickers/coinpaprika',
  '/api/market/baskets/PureTri/volume?chain=vrsc',
  '/api/market/baskets/PureTri/volume?chain=vrsc&days=3',
];
const OBJECTS = [
  '/api/market/protocol',
  '/api/market/overview',
  '/api/market/vrsc-pools',
  '/api/market/prices/xeth/history?days=60',
  '/api/market/prices/xeth/history?days=2',
  '/api/market/prices/VRSCTEST/history',
  '/api/oracle/prices/xeth/history?provisional=true&limit=1000',
  '/api/oracle/prices/xeth/history?provisional=true&interval=1d&hours=240',
  '/api/stats/charts?metric=conversions&period=all&chain=vrsc',
  '/api/stats/charts?metric=conversions&period=7d&chain=twin',
];

interface Answer {
  readonly body: LooseJson;
  /** ISO 8601; null if nothing is provisional. */
  readonly since: string | null;
}

/** Numbers as text, so that exact ones compare. */
const plain = (value: LooseJson): LooseJson =>
  JSON.parse(JSON.stringify(value, (_, part) => (part instanceof LosslessNumber ? part.value : part)));

async function answers(client: TestClient): Promise<Record<string, Answer>> {
  const found: Record<string, Answer> = {};
  for (const path of [...LISTS, ...OBJECTS]) {
    const header = (await client.raw(path)).headers.get('provisional-since');
    const body = plain(await client.json(path));
    if (LISTS.includes(path)) found[path] = { body, since: header };
    else {
      const { provisional, provisionalSince, ...rest } = body;
      expect([path, provisional]).toEqual([path, provisionalSince !== null]);
      const data = rest.data?.map?.(({ provisional: _, ...row }: LooseJson) => row);
      found[path] = { body: { ...rest, ...(data && { data }) }, since: provisionalSince };
    }
  }
  return found;
}

const bodies = (all: Record<string, Answer>) =>
  Object.fromEntries(Object.entries(all).map(([path, { body }]) => [path, body]));

interface Trade {
  readonly chain: string;
  readonly time: number;
  readonly basket: string;
  readonly from: string;
  readonly to: string;
  readonly amountIn: bigint;
  readonly amountOut: bigint;
  readonly usd: number;
}

async function tradesOf({ stores }: PriceWorld): Promise<Trade[]> {
  const { rows } = await stores.postgres.pool.query<Trade & { stamped: boolean }>(
    `SELECT t.chain, b.time::integer AS time, t.import_currency_id AS basket, t.from_currency_id AS from, t.to_currency_id AS to,
       t.amount_in AS "amountIn", coalesce(t.amount_out, 0) AS "amountOut", coalesce(s.usd_value, 0)::float8 AS usd,
       s.tick IS NOT NULL AS stamped
     FROM transfers t JOIN blocks b ON b.chain = t.chain AND b.height = t.import_height
       LEFT JOIN stamps s ON s.chain = t.chain AND s.txid = t.txid AND s.vout = t.vout AND s.generation = 1
     WHERE t.to_height IS NULL AND t.status = 'completed' AND t.kind IN ('convert', 'via')`,
  );
  expect(rows.filter(({ stamped }) => !stamped)).toEqual([]);
  return rows;
}

const volume = (trades: readonly Trade[]) => trades.reduce((sum, { usd }) => sum + usd, 0);
const isOfDay = ({ chain, time }: Trade) => time > (ends[chain] ?? 0) - DAY;
const near = (value: LooseJson, expected: number) => expect(Number(value)).toBeCloseTo(expected, 6);

let stalled: PriceWorld;
let trades: readonly Trade[];
let shown: Record<string, Answer>;
beforeAll(async () => {
  stalled = await worldOf([first, second, third.slice(0, STALLED)]);
  trades = await tradesOf(stalled);
  shown = await ask(stalled, answers);
}, 300_000);
afterAll(() => stalled?.close());

const body = (path: string): LooseJson => shown[path]?.body;

describe('while one chain stands still', () => {
  it('has trades of the others beyond the line, also in the last day', () => {
    expect(newest - line).toBeGreaterThan(8 * DAY);
    expect(trades.filter(({ time }) => time >= line).length).toBeGreaterThan(30);
    for (const { name } of pair)
      expect(trades.filter((trade) => trade.chain === name && isOfDay(trade)).length).toBeGreaterThan(0);
  });

  it('reports that answers are provisional, and since when', () => {
    const shownSince = Object.entries(shown).map(([path, answer]) => [path, answer.since]);
    const expected = (path: string) => {
      if (path.includes('chain=twin')) return beyondOf(second);
      return path.includes('chain=vrsc') ? beyondOf(first) : Math.min(beyondOf(first), beyondOf(second));
    };
    expect(shownSince).toEqual(Object.keys(shown).map((path) => [path, new Date(expected(path) * 1000).toISOString()]));
  });

  it('counts every conversion in the status, which reports since when the number is provisional', async () => {
    const { data } = await ask(stalled, (client) => client.json('/api/stats/status'));
    const since = new Date(Math.min(beyondOf(first), beyondOf(second)) * 1000).toISOString();
    expect([data.provisional, data.provisionalSince]).toEqual([true, since]);
    const { rows } = await stalled.stores.postgres.pool.query<{ count: string }>(
      `SELECT count(*)::text AS count FROM transfers t JOIN stamps s USING (chain, txid, vout)
       WHERE t.to_height IS NULL AND t.status = 'completed' AND s.generation = 1`,
    );
    expect(String(data.conversionsTotal)).toBe(rows[0]?.count);
  });

  it('sums every trade up to the tip of its own chain', () => {
    const protocol = body('/api/market/protocol');
    for (const [hours, total, count] of [
      [24, protocol.volume24h, null],
      [720, protocol.volume30d, protocol.trades30d],
      [1e9, protocol.volumeAllTime, protocol.tradesAllTime],
    ]) {
      const within = trades.filter(({ time }) => time > newest - hours * 3600);
      near(total, volume(within));
      if (count !== null) expect(Number(count)).toBe(within.length);
    }
    near(protocol.fees30d, volume(trades.filter(({ time }) => time > newest - 30 * DAY)) * 0.00025);
    for (const { date, volume: sum, trades: count, fees } of body('/api/market/volume')) {
      const ofDay = trades.filter(({ time }) => new Date(time * 1000).toISOString().startsWith(date));
      expect([date, Number(count)]).toEqual([date, ofDay.length]);
      near(sum, volume(ofDay));
      near(fees, volume(ofDay) * 0.00025);
    }
    expect(body('/api/market/overview').volumeHistory).toEqual(body('/api/market/volume'));
  });

  it('shows baskets and pairs over the last day of their own chain', () => {
    const ofDay = trades.filter(isOfDay);
    for (const { currencyId, volume24h, fees24h } of body('/api/market/baskets')) {
      const ofBasket = ofDay.filter(({ basket }) => basket === currencyId);
      near(volume24h, volume(ofBasket));
      near(fees24h, volume(ofBasket) * 0.00025);
    }
    const sum = (rows: readonly Trade[], side: 'amountIn' | 'amountOut') =>
      rows.reduce((total, row) => total + row[side], 0n);
    for (const { basketId, baseId, quoteId, volumeBase, volumeQuote, volumeUsd } of body('/api/market/pairs')) {
      const ofBasket = ofDay.filter(({ basket }) => basket === basketId);
      const sold = ofBasket.filter(({ from, to }) => from === baseId && to === quoteId);
      const bought = ofBasket.filter(({ from, to }) => from === quoteId && to === baseId);
      near(volumeBase, Number(sum(sold, 'amountIn') + sum(bought, 'amountOut')) / 1e8);
      near(volumeQuote, Number(sum(sold, 'amountOut') + sum(bought, 'amountIn')) / 1e8);
      near(volumeUsd, volume([...sold, ...bought]));
    }
    for (const { currencyId, volume24h } of body('/api/market/currencies')) {
      const sides = trades.filter(({ time, from, to }) => time > newest - DAY && [from, to].includes(currencyId));
      near(volume24h, volume(sides));
    }
  });

  it('charts every day of a chain', () => {
    const { data } = body('/api/stats/charts?metric=conversions&period=all&chain=vrsc');
    const ofChain = trades.filter(({ chain }) => chain === 'vrsc');
    for (const { timestamp, value } of data) {
      expect(Number(value)).toBe(
        ofChain.filter(({ time }) => Math.floor(time / DAY) * DAY === Number(timestamp)).length,
      );
    }
    expect(Number(data.at(-1).timestamp)).toBe(Math.floor((ends.vrsc ?? 0) / DAY) * DAY);
  });

  it('answers only the complete history of prices, unless provisional prices are requested', async () => {
    await ask(stalled, async (client) => {
      const path = '/api/oracle/prices/xeth/history?limit=1000';
      const complete = await client.json(path);
      const all = await client.json(`${path}&provisional=true`);
      expect([complete.provisional, complete.provisionalSince]).toEqual([false, null]);
      expect(all.data.filter(({ provisional }: LooseJson) => !provisional)).toEqual(complete.data);
      expect(all.data[0].blockHeight).toBe(first.at(-1)?.height);
      expect(all.data.filter(({ provisional }: LooseJson) => provisional).length).toBeGreaterThan(50);
    });
  });
});

describe('a subscriber that begins with a snapshot while a chain stands still', () => {
  it('holds every provisional price that may be valid again after an undo', async () => {
    const [whole, begun] = [createBotState(), createBotState()];
    const since = new Map<string, number>();
    const hear = (state: BotState) => (message: LooseJson) => {
      const { type, chain, data } = message;
      if (type === 'snapshot') {
        state.takePart(message);
        since.set(chain, message.since);
      } else if ('data' in message) state.takeEvent({ chain, type: placeOf(chain, type, data).type, data });
    };
    await ask(stalled, async (_, port) => {
      await hearAll(
        { log: stalled.log, port, chains: NAMES },
        { channels: ['prices'], cursor: beginningOf(NAMES) },
        hear(whole),
      );
      await hearAll({ log: stalled.log, port, chains: NAMES }, { channels: ['prices'], snapshot: true }, hear(begun));
    });
    let uncovered = 0;
    let before = '';
    for (const { name } of pair) {
      const lowest = since.get(name) ?? 0;
      const tip = (name === 'vrsc' ? first : second).at(-1)?.height ?? 0;
      expect(lowest).toBeLessThan(tip);
      for (let toHeight = tip; toHeight >= lowest; toHeight--) {
        for (const state of [whole, begun]) state.takeEvent({ chain: name, type: UNDO_OF_PRICES, data: { toHeight } });
        const held = JSON.stringify([...whole.current()].sort());
        expect([name, toHeight, JSON.stringify([...begun.current()].sort())]).toEqual([name, toHeight, held]);
        if (held !== before) uncovered += 1;
        before = held;
      }
    }
    expect(uncovered).toBeGreaterThan(20);
  });
});

/** Blocks of the third chain up to two days in which nothing is converted, and no basket changes. */
const QUIET = 158;

/** A block without content, which only shows that its chain has passed the others. */
function quietBlock(): FedBlock {
  const last = third[QUIET];
  return {
    height: last?.height ?? 0,
    hash: last?.hash ?? '',
    facts: [{ ...blockOf(last), time: newest + 1, clock: newest + 1 }],
  };
}

describe('when it returns', () => {
  it('answers the same, and no longer provisionally, if its blocks have no content', async () => {
    const quiet = await worldOf([first, second, third.slice(0, QUIET)]);
    try {
      const before = await ask(quiet, answers);
      await quiet.feeds[2]?.append([quietBlock()]);
      await quiet.run();
      const complete = await ask(quiet, answers);
      expect(bodies(complete)).toEqual(bodies(before));
      // Now the second chain is the slowest: only blocks from its newest one's clock on are still to be passed.
      for (const { since } of Object.values(complete)) {
        expect(Date.parse(since ?? '')).toBeGreaterThanOrEqual((ends.twin ?? 0) * 1000);
      }
    } finally {
      await quiet.close();
    }
  }, 300_000);

  it('answers as if it had never stood still', async () => {
    const subscriber = createSubscriber(stalled.log, NAMES);
    await ask(stalled, (_, port) => subscriber.follow(port));
    const isProvisional = ({ provisional }: LooseJson) => provisional === true;
    const before = [...subscriber.rows.values()].filter(isProvisional).length;
    expect(before).toBeGreaterThan(50);
    await stalled.feeds[2]?.append(third.slice(STALLED));
    await stalled.run({ maxTicks: 40 });
    await ask(stalled, (_, port) => subscriber.follow(port));
    expect([...subscriber.rows.values()].filter(isProvisional).length).toBeLessThan(before);
    // Blocks that are still on the chain are not undone.
    expect([...subscriber.types].sort()).toEqual(['conversion', 'conversion_correction', 'price', 'price_correction']);
    const after = await ask(stalled, answers);
    expect(bodies(after)).not.toEqual(bodies(shown));
    const straight = await worldOf([first, second, third]);
    try {
      expect(after).toEqual(await ask(straight, answers));
      const fresh = createSubscriber(straight.log, NAMES);
      await ask(straight, (_, port) => fresh.follow(port));
      expect(Object.fromEntries(subscriber.rows)).toEqual(Object.fromEntries(fresh.rows));
    } finally {
      await straight.close();
    }
  }, 300_000);
});
