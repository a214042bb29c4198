/** Work that ran into a limit keeps its charge, in REST and JSON-RPC: otherwise it could be repeated for free. */
import { afterEach, expect, it } from 'vitest';
import { ClickHouseSilent } from '../../infra/clickhouse/clickhouse-errors.ts';
import {
  DaemonGarbage,
  DaemonReplyTooLarge,
  DaemonTimeout,
  DaemonUnreachable,
} from '../../infra/verusd/daemon-errors.ts';
import { RetryableError } from '../../schemas/errors.ts';
import { CHAIN, type SmallApi, startSmallApi } from '../../test/support/api/http/small-api.ts';
import { AnswerGivenUp } from '../access/answer-memory.ts';
import { QueueFull } from '../access/priority-lanes.ts';
import { ApiError } from './api-error.ts';
import { liveRoute } from './route.ts';

const open = { summary: '', parameters: {}, response: {}, weight: 1, cache: 'none' } as const;
/** An extension of JSON-RPC whose parameter is one address. */
const METHOD = 'getbalanceall';
const CALL = JSON.stringify({ id: 7, method: METHOD, params: ['RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V'] });
const ALLOWANCE = 2;

let api: SmallApi | undefined;
afterEach(() => api?.close());

const coded = (code: string) => Object.assign(new Error('given up'), { code });

/** Sends one request more than the allowance, one after another, and returns the statuses. */
async function statusesOf(path: string, init: RequestInit = {}): Promise<number[]> {
  const statuses: number[] = [];
  for (let asked = 0; asked <= ALLOWANCE; asked++) {
    const answer = await fetch(`http://127.0.0.1:${api?.port}${path}`, init);
    await answer.text();
    statuses.push(answer.status);
  }
  return statuses;
}

const PAID: readonly [string, Error][] = [
  ['a daemon that answers too late', new DaemonTimeout('late')],
  ['a reply of a daemon that is cut off', new DaemonGarbage('cut')],
  ['a reply that is too large', new DaemonReplyTooLarge('large')],
  ['answers that hold too much', new AnswerGivenUp()],
  ['a full queue', new QueueFull()],
  ['a statement that Postgres cancelled', coded('57014')],
  ['a statement of ClickHouse at its limit of time', coded('159')],
  ['a statement of ClickHouse at its limit of memory', new RetryableError('clickhouse', 'x', { cause: coded('241') })],
  ['a statement of ClickHouse at its limit of rows', coded('396')],
  ['an unresponsive ClickHouse', new ClickHouseSilent(1)],
  ['an error of REST that wraps one', new ApiError('daemon_error', 'x', { cause: new DaemonTimeout('late') })],
];
const GIVEN_BACK: readonly [string, Error][] = [
  ['an unreachable daemon', new DaemonUnreachable('away')],
  ['an error of the program', new TypeError('x')],
];

async function start(failure: Error): Promise<void> {
  const fail = async () => {
    throw failure;
  };
  api = await startSmallApi({
    requestsPerMinute: ALLOWANCE,
    routes: [liveRoute({ ...open, path: '/fails', handler: fail })],
    extensions: { [METHOD]: fail },
  });
}

it.each(PAID)('%s: the charge is kept', async (_, failure) => {
  await start(failure);
  expect((await statusesOf('/fails')).at(-1)).toBe(429);
  api?.close();
  await start(failure);
  expect((await statusesOf(`/rpc/${CHAIN}`, { method: 'POST', body: CALL })).at(-1)).toBe(429);
});

it.each(GIVEN_BACK)('%s: the charge is refunded', async (_, failure) => {
  await start(failure);
  for (const status of await statusesOf('/fails')) expect(status).toBeGreaterThanOrEqual(500);
  expect(await statusesOf(`/rpc/${CHAIN}`, { method: 'POST', body: CALL })).toEqual([500, 500, 500]);
});

it('a request answered as too slow keeps its charge, however its work ends', async () => {
  let ended = 0;
  const ends: (() => void)[] = [];
  const handler = async () => {
    await new Promise<void>((resolve) => ends.push(resolve));
    ended += 1;
    throw new DaemonUnreachable('away');
  };
  api = await startSmallApi({
    requestsPerMinute: ALLOWANCE,
    answerMs: 20,
    routes: [liveRoute({ ...open, path: '/late', handler })],
  });
  for (let asked = 1; asked <= ALLOWANCE; asked++) {
    const answer = await fetch(`http://127.0.0.1:${api.port}/late`);
    expect(await answer.json()).toMatchObject({ code: 'too_slow' });
    ends.pop()?.();
    while (ended < asked) await new Promise(setImmediate);
    await new Promise(setImmediate);
  }
  expect((await fetch(`http://127.0.0.1:${api.port}/read`)).status).toBe(429);
});
