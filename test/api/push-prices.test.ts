/** Prices and values in the push stream, over a reorganisation and a restart of the server, compared with what REST answers. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { encodePlaces, feedKey } from '../../api/push/cursor.ts';
import { CHAIN, type RunningService, startService } from './running-service.ts';
import { StreamReader } from './stream-reader.ts';
import type { LooseJson } from './truth.ts';

const FORK = 845;
const START = { position: 0, index: 0 };
const BEGINNING = encodePlaces(
  new Map([
    [feedKey('facts', CHAIN), START],
    [feedKey('stamps', CHAIN), START],
  ]),
);

let service: RunningService;
beforeAll(async () => {
  service = await startService({ startHeight: FORK - 5 });
  await service.settled();
  while (service.node.height < FORK + 10) {
    service.node.step();
    await service.settled(true);
  }
}, 300_000);

afterAll(() => service?.stop());

/** Events from a cursor on, up to the first that is enough. */
async function hear(wish: LooseJson, cursor: string, isEnough: (event: LooseJson) => boolean): Promise<LooseJson[]> {
  const reader = new StreamReader(service.port);
  await reader.opened();
  reader.send({ op: 'subscribe', id: 1, ...wish, cursor });
  const [ack, ...events] = await reader.until((message) => 'data' in message && isEnough(message));
  expect(ack).toMatchObject({ type: 'ack', id: 1 });
  await reader.close();
  return events;
}

/** The data of events that still hold; `heightOf` returns the height of an event's block. */
function createBook(heightOf: (data: LooseJson) => number) {
  let held: LooseJson[] = [];
  let undos = 0;
  return {
    take({ type, data }: LooseJson): void {
      if (type === 'undo') {
        expect(data).toMatchObject({ of: 'prices', reason: 'reorg' });
        undos += 1;
        held = held.filter((event) => heightOf(event) <= data.toHeight);
      } else held.push(data);
    },
    held: () => held,
    undos: () => undos,
  };
}

it('sends prices that end at the stored ones, and continues between them after a restart', async () => {
  const { rows } = await service.stores.postgres.pool.query<{ currency_id: string; usd_price: string }>(
    `SELECT DISTINCT ON (currency_id) currency_id, usd_price FROM prices ORDER BY currency_id, tick DESC`,
  );
  expect(rows.length).toBeGreaterThan(3);
  const book = createBook(({ height }) => height);
  const wish = { channels: ['prices'] };
  const heard = await hear(wish, BEGINNING, (event) => {
    book.take(event);
    const last = (id: string) => book.held().findLast(({ currencyId }) => currencyId === id);
    return book.undos() > 0 && rows.every((row) => last(row.currency_id)?.usdPrice === Number(row.usd_price));
  });
  expect(new Set(heard.map(({ type }) => type))).toEqual(new Set(['price', 'undo']));

  const half = Math.floor(heard.length / 2);
  const rest = heard.slice(half + 1).map(({ type, data }) => ({ type, data }));
  await service.restartApi();
  let left = rest.length;
  const again = await hear(wish, heard[half].cursor, () => --left === 0);
  expect(again.map(({ type, data }) => ({ type, data }))).toEqual(rest);
});

it.each([0, 500])('sends conversions of at least %i USD once their value is known', async (minUsd) => {
  const answer = await fetch(`${service.url}/api/conversions/?minUsd=${minUsd}&pageSize=200`);
  const { results, total } = (await answer.json()) as LooseJson;
  expect(total).toBeGreaterThan(5);
  expect(total).toBeLessThan(200);
  const keyOf = ({ txid, vout }: LooseJson) => `${txid}:${vout}`;
  const book = createBook(({ importHeight }) => importHeight);
  await hear({ channels: ['conversions'], filter: { minUsd } }, BEGINNING, (event) => {
    book.take(event);
    const pushed = new Map(book.held().map((data) => [keyOf(data), data.usdValue]));
    return results.every((row: LooseJson) => pushed.get(keyOf(row)) === row.usdValue);
  });
  expect(book.held().length).toBe(total);
  for (const { usdValue, rule, status } of book.held()) {
    expect(usdValue).toBeGreaterThanOrEqual(minUsd);
    expect([rule === 'unpriced', status]).toEqual([false, 'completed']);
  }
});

it('sends blocks and prices, each with an undo of its own, a price after its block', async () => {
  const wish = { channels: ['blocks', 'prices'] };
  const undos = new Set<string | undefined>();
  let tip = -1;
  await hear(wish, BEGINNING, ({ type, data }) => {
    if (type === 'block') tip = data.height;
    if (type === 'price') expect(data.height).toBeLessThanOrEqual(tip);
    if (type === 'undo') undos.add(data.of);
    return undos.size === 2;
  });
  expect(undos).toEqual(new Set([undefined, 'prices']));
});

it('sends the same over server-sent events', async () => {
  const stop = new AbortController();
  const query = `channels=conversions&minUsd=500&cursor=${BEGINNING}`;
  const answer = await fetch(`${service.url}/api/stream?${query}`, { signal: stop.signal });
  let text = '';
  for await (const chunk of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    if (text.includes('"usdValue":')) break;
  }
  stop.abort();
  expect(text).toMatch(/^event: conversion$/m);
});
