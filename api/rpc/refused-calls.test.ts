/** Answers to calls that the limits refuse, over real HTTP. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type SmallApi, startSmallApi } from '../../test/support/api/http/small-api.ts';

const REQUESTS = 5;

let api: SmallApi;
/** The limits follow this clock. */
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  api = await startSmallApi({ requestsPerMinute: REQUESTS });
});
afterEach(() => {
  api.close();
  vi.useRealTimers();
});

const CALL = { id: 7, method: 'getinfo', params: [] };
const ask = async (calls: number, padding = '') => {
  const body = JSON.stringify(calls === 1 ? CALL : Array(calls).fill(CALL)) + padding;
  const answer = await fetch(`http://127.0.0.1:${api.port}/`, { method: 'POST', body });
  const { status, headers } = answer;
  return { status, wait: headers.get('retry-after'), said: await answer.json() };
};

it('a client that waits for Retry-After of a refusal is admitted at the next attempt', async () => {
  for (const after of [0, 30_000, 0, 0, 0]) {
    vi.advanceTimersByTime(after);
    expect((await ask(1)).status).toBe(200);
  }
  const { status, wait } = await ask(REQUESTS);
  expect(status).toBe(429);
  expect((await ask(1)).wait).toBe('31'); // seconds until a single call may pass
  vi.advanceTimersByTime(Number(wait) * 1000);
  expect((await ask(REQUESTS)).status).toBe(200);
});

it('a batch larger than the allowance of a minute is refused with the same message, without Retry-After', async () => {
  api.close();
  api = await startSmallApi({ requestsPerMinute: REQUESTS - 1 });
  const error = { code: -32005, message: 'Too many requests' };
  expect(await ask(REQUESTS)).toEqual({ status: 429, wait: null, said: { result: null, error, id: null } });
});

it('Retry-After of a long body that is refused unread covers the cost of its headers', async () => {
  await ask(REQUESTS);
  const { status, wait, said } = await ask(1, ' '.repeat(5_000));
  expect([status, wait]).toEqual([429, '61']);
  expect(said).toMatchObject({ error: { message: 'Too many requests' }, id: null });
});
