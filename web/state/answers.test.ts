/**
 * Answers keep up with changes that happen during their request and before a panel shows them; names are requested until they are known.
 */
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { call, orFirstPage, orWithoutMempool } from '../calls.ts';

const CHAIN = 'vrsctest';
const REFRESH_MS = 30_000;
const SLOW_MS = 1_000;

let answers: typeof import('./answers.ts');
let names: typeof import('./names.ts');
let meter: typeof import('./meter.ts');
let height = 0;
let asked: string[] = [];
let tests = 0;
/** Responses that the next calls get instead of an answer. */
let refusals: (() => Response)[] = [];

const nameFor = (id: string) => `name of ${id}`;
const hashAt = (block: number) => block.toString(16).padStart(64, '0');

/** The service's answer, with its state at the time of the request. */
async function answer(request: Request): Promise<Response> {
  asked.push(request.url);
  const state = `${CHAIN};height=${height};hash="${hashAt(height)}";finalized=0`;
  await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
  const refuse = refusals.shift();
  if (refuse) return refuse();
  const ids = new URL(request.url).searchParams.get('ids')?.split(',') ?? [];
  const results = ids.map((id) => ({ id, name: nameFor(id) }));
  return Response.json({ results }, { headers: { 'X-Chain-State': state } });
}

/** The parts of a browser page that the state modules use. */
const PAGE = {
  location: { origin: 'http://page.test', pathname: '/', search: '' },
  addEventListener: () => {},
  document: {
    hidden: false,
    addEventListener: () => {},
    getElementById: () => ({ textContent: JSON.stringify({ chains: [{ name: CHAIN }], recordings: [] }) }),
  },
  fetch: answer,
};

beforeAll(async () => {
  vi.useFakeTimers(); // before the page's clock starts
  for (const [name, value] of Object.entries(PAGE)) vi.stubGlobal(name, value);
  answers = await import('./answers.ts');
  names = await import('./names.ts');
  meter = await import('./meter.ts');
});

afterAll(() => {
  vi.clearAllTimers();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

beforeEach(() => {
  tests += 1;
  asked = [];
  refusals = [];
  height = 100;
});

/** Each test uses its own call. */
const theCall = () => call('/api/search/', { query: { q: `test${tests}` } });
const ask = () => answers.ask(theCall());
const timesAsked = () => asked.filter((url) => url.endsWith(theCall().url)).length;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const heightOf = ({ shown }: ReturnType<typeof ask>) => /height=(\d+)/.exec(shown.value?.chainState ?? '')?.[1];

it('a refresh during a call repeats it once, and a poll does not', async () => {
  const { poll } = await import('../parts/refresh.ts');
  const list = ask();
  const leave = answers.watch(list);
  await pass(SLOW_MS / 2);
  poll(list);
  list.refresh();
  list.refresh();
  height += 1; // the change that caused the refresh
  await pass(10 * SLOW_MS);
  expect([timesAsked(), heightOf(list)]).toEqual([2, '101']);
  list.refresh();
  poll(list);
  await pass(10 * SLOW_MS);
  expect(timesAsked()).toBe(3);
  leave();
});

it('a refresh of an answer that no panel shows happens at the next request', async () => {
  const list = ask();
  list.refresh();
  await pass(10 * SLOW_MS);
  expect(timesAsked()).toBe(1);
  ask();
  await pass(10 * SLOW_MS);
  expect(timesAsked()).toBe(2);
});

it.each([
  ['a block', false, REFRESH_MS],
  ['an undo', true, 0],
])('%s that arrives before a panel shows the answer still refreshes it', async (_, atOnce, ms) => {
  const view = ask();
  await pass(SLOW_MS / 2);
  height += 1;
  answers.chainMoved(CHAIN, atOnce);
  await pass(SLOW_MS);
  const leave = answers.watch(view);
  expect(heightOf(view)).toBe('100');
  await pass(ms + SLOW_MS);
  expect([timesAsked(), heightOf(view)]).toEqual([2, '101']);
  leave();
});

it.each([
  ['before', SLOW_MS / 2],
  ['after', 2 * SLOW_MS],
])(
  'an answer older than the first block of the stream is requested once more when the greeting comes %s it',
  async (_, ms) => {
    const view = ask();
    const leave = answers.watch(view);
    await pass(ms);
    answers.streamBegan({ [CHAIN]: { height: 101, hash: hashAt(101) }, other: null });
    await pass(10 * SLOW_MS);
    expect(timesAsked()).toBe(2); // no further requests, although the service is still behind
    leave();
  },
);

it('an answer at the first block of the stream or later is requested only once', async () => {
  const view = ask();
  const leave = answers.watch(view);
  await pass(SLOW_MS / 2);
  answers.streamBegan({ [CHAIN]: { height, hash: hashAt(height) } });
  await pass(10 * SLOW_MS);
  answers.streamBegan({ [CHAIN]: { height: height - 1, hash: hashAt(height - 1) } });
  await pass(10 * SLOW_MS);
  expect(timesAsked()).toBe(1);
  leave();
});

const problem = (status: number, headers: Record<string, string> = {}, code = 'refused') =>
  Response.json({ code }, { status, headers: { ...headers, 'Content-Type': 'application/problem+json' } });
const unreachable = () => {
  throw new TypeError('the network is away');
};

it('an answer requested before a reorganisation does not bring back the tip that it removed', async () => {
  const { tips, noteTip } = await import('./tips.ts');
  const { revertTo } = await import('./lanes.ts');
  ask();
  await pass(SLOW_MS / 2);
  revertTo(CHAIN, { fromHeight: height, toHeight: 90 });
  noteTip(CHAIN, { height: 95, hash: hashAt(95), time: 0 }, null);
  await pass(SLOW_MS);
  expect(tips.value[CHAIN]?.height).toBe(95);
  height = 96;
  answers.ask(call('/api/stats/status'));
  await pass(2 * SLOW_MS);
  expect(tips.value[CHAIN]?.height).toBe(96);
});

it('what was not found is requested again when its chain has a new block, and found then', async () => {
  const there = call('/api/tx/{txid}', { path: { txid: `${tests}` }, query: { chain: CHAIN } });
  const gone = () => problem(404);
  refusals = [gone, gone];
  const view = answers.ask(there);
  const leave = answers.watch(view);
  await pass(2 * SLOW_MS);
  answers.chainMoved('other');
  await pass(2 * REFRESH_MS);
  expect([asked.length, view.trouble.value?.status]).toEqual([1, 404]);
  for (const times of [2, 3]) {
    answers.chainMoved(CHAIN);
    answers.chainMoved(CHAIN);
    await pass(REFRESH_MS + 2 * SLOW_MS);
    expect(asked).toHaveLength(times);
  }
  expect([view.trouble.value, view.shown.value !== null]).toEqual([null, true]);
  leave();
});

it.each<[string, () => Response, number]>([
  ['a limit, when it is over', () => problem(429, { 'Retry-After': '7' }), 7_000],
  ['an outage', unreachable, 5_000],
  ['a failure without a retry time', () => problem(500), 30_000],
])('a name is requested again after %s, until it is known', async (_, refuse, ms) => {
  refusals = [refuse, refuse];
  const id = `i${tests}`;
  const name = names.nameOf(id);
  await pass(ms / 2);
  expect([name.value, asked.length]).toEqual([null, 1]);
  await pass(2 * ms + 5 * SLOW_MS);
  expect([name.value, asked.length]).toEqual([nameFor(id), 3]);
  await pass(20 * ms);
  expect(asked).toHaveLength(3);
});

it('a name that the service refuses to look up is not requested again', async () => {
  refusals = [() => problem(400)];
  const name = names.nameOf(`i${tests}`);
  await pass(3_600_000);
  expect([name.value, asked.length]).toEqual([null, 1]);
});

it('a name that is wanted while the allowance is low is requested once it is not', async () => {
  meter.allowance.value = { limit: 100, left: 1, wholeAt: Date.now() + 60_000 };
  const name = names.nameOf(`i${tests}`);
  await pass(55_000);
  expect([name.value, asked.length]).toEqual([null, 0]);
  await pass(15_000);
  expect([name.value, asked.length]).toEqual([nameFor(`i${tests}`), 1]);
  meter.allowance.value = null;
});

it('a name that is shown is not forgotten, however many others come', async () => {
  const id = `i${tests}`;
  const name = names.nameOf(id);
  const leave = name.subscribe(() => {});
  for (let index = 0; index < 5_000; index += 1) names.nameOf(`i${tests}-${index}`);
  expect(names.nameOf(id)).toBe(name);
  await pass(60_000);
  expect(name.value).toBe(nameFor(id));
  leave();
});

const [WHOLE, INSTEAD] = ['whole', 'instead'];

it.each([
  ['an answer that was too large is not requested again', orFirstPage, 'answer_too_large', [INSTEAD], [INSTEAD]],
  ['an unknown mempool is requested again', orWithoutMempool, 'mempool_unknown', [WHOLE], [WHOLE, INSTEAD]],
])('%s, after a limit and by a refresh', async (_, orInstead, code, afterLimit, byRefresh) => {
  const whole = orInstead(
    call('/api/tx/{txid}', { path: { txid: `${tests}` }, query: { unconfirmed: 'true' } }),
    '200',
  );
  const refuse = () => problem(400, {}, code);
  const kinds = () => asked.splice(0).map((url) => (url.endsWith(whole.url) ? WHOLE : INSTEAD));
  refusals = [refuse, () => problem(429, { 'Retry-After': '7' })];
  const list = answers.ask(whole);
  const leave = answers.watch(list);
  await pass(3 * SLOW_MS);
  expect(kinds()).toEqual([WHOLE, INSTEAD]);
  await pass(7_000 + 2 * SLOW_MS);
  expect(kinds()).toEqual(afterLimit);
  refusals = [refuse];
  list.refresh();
  await pass(3 * SLOW_MS);
  expect(kinds()).toEqual(byRefresh);
  leave();
});
