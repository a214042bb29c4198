/** Answers follow what happens while they are being asked, and before a panel shows them; names are asked for until they are known. */
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { call, orFirstPage, orWithoutMempool } from '../calls.ts';

const CHAIN = 'vrsctest';
const REFRESH_MS = 30_000;
const SLOW_MS = 1_000;

let answers: typeof import('./answers.ts');
let names: typeof import('./names.ts');
let height = 0;
let asked: string[] = [];
let tests = 0;
/** What happens to the next calls in place of an answer. */
let refusals: (() => Response)[] = [];

const nameFor = (id: string) => `name of ${id}`;
const hashAt = (block: number) => block.toString(16).padStart(64, '0');

/** Answers of the service as it stands when it is asked. */
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

/** Of the page, as far as its state needs it. */
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
  vi.useFakeTimers(); // before the clock of the page starts
  for (const [name, value] of Object.entries(PAGE)) vi.stubGlobal(name, value);
  answers = await import('./answers.ts');
  names = await import('./names.ts');
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

/** Another one for each test. */
const theCall = () => call('/api/search/', { query: { q: `test${tests}` } });
const ask = () => answers.ask(theCall());
const timesAsked = () => asked.filter((url) => url.endsWith(theCall().url)).length;
const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const heightOf = ({ shown }: ReturnType<typeof ask>) => /height=(\d+)/.exec(shown.value?.chainState ?? '')?.[1];

it('a refresh while the call is under way asks once more, and a poll does not', async () => {
  const { poll } = await import('../parts/refresh.ts');
  const list = ask();
  const leave = answers.watch(list);
  await pass(SLOW_MS / 2);
  poll(list);
  list.refresh();
  list.refresh();
  height += 1; // the change that was the reason to ask
  await pass(10 * SLOW_MS);
  expect([timesAsked(), heightOf(list)]).toEqual([2, '101']);
  list.refresh();
  poll(list);
  await pass(10 * SLOW_MS);
  expect(timesAsked()).toBe(3);
  leave();
});

it('a refresh of what no panel shows any more is made up for by the next one who asks', async () => {
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
])('%s that comes before a panel shows the answer is not forgotten', async (_, atOnce, ms) => {
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
])('an answer from before the block that the stream began with is asked once more: greeted %s it', async (_, ms) => {
  const view = ask();
  const leave = answers.watch(view);
  await pass(ms);
  answers.streamBegan({ [CHAIN]: { height: 101, hash: hashAt(101) }, other: null });
  await pass(10 * SLOW_MS);
  expect(timesAsked()).toBe(2); // and no more, though the service is still behind
  leave();
});

it('an answer from the block that the stream began with, or from a later one, is asked once', async () => {
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

it.each<[string, () => Response, number]>([
  ['a limit, when it is over', () => problem(429, { 'Retry-After': '7' }), 7_000],
  ['an outage', unreachable, 5_000],
  ['a failure that says no time', () => problem(500), 30_000],
])('a name is asked for again after %s, until it is known', async (_, refuse, ms) => {
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

it('a name that the service refuses to look up is not asked for again', async () => {
  refusals = [() => problem(400)];
  const name = names.nameOf(`i${tests}`);
  await pass(3_600_000);
  expect([name.value, asked.length]).toEqual([null, 1]);
});

const [WHOLE, INSTEAD] = ['whole', 'instead'];

it.each([
  ['what was too large is not asked for again', orFirstPage, 'answer_too_large', [INSTEAD], [INSTEAD]],
  ['a mempool that was not known is asked for again', orWithoutMempool, 'mempool_unknown', [WHOLE], [WHOLE, INSTEAD]],
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
