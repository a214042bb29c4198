/**
 * Caches answers of the REST interface by URL. Each answer is requested once, kept until its chain moves, and requested again automatically
 * after a rate limit or an outage. A shown answer stays until a newer one arrives.
 */
import { batch, effect, type Signal, signal } from '@preact/signals';
import { type AnswerOf, type Call, type GetPath, needsSession } from '../calls.ts';
import { client } from './client.ts';
import { isLow, noteStanding } from './meter.ts';
import { session, sessionEnded } from './session.ts';
import { chainsOf, noteChainState } from './tips.ts';
import { type Trouble, troubleOf, unreachable } from './trouble.ts';

export interface Shown<Data> {
  readonly data: Data;
  /** Path and query of the request. */
  readonly url: string;
  /** X-Chain-State; null for answers that change with time instead of with a chain. */
  readonly chainState: string | null;
  /** When the request was sent, in milliseconds since the epoch: later events may be missing from the answer. */
  readonly at: number;
}

export interface Answer<Path extends GetPath = GetPath> {
  readonly call: Call<Path>;
  readonly shown: Signal<Shown<AnswerOf<Path>> | null>;
  readonly trouble: Signal<Trouble | null>;
  readonly isBusy: Signal<boolean>;
  /** Requests the answer again even if a fresh one is cached; repeats a running request, whose answer may predate the reason to refresh. */
  refresh(): void;
}

interface Kept extends Answer {
  /** Whether its chain has moved since. */
  isStale: boolean;
  /** The URL of the next requests. */
  url: string;
  /** Number of panels that show it. */
  watchers: number;
  /** When it was last requested, in milliseconds since the epoch. */
  askedAt: number;
  /** When it must be requested again, even while a request is running or no panel shows it yet. */
  due: number | null;
  /** The scheduled automatic request. */
  next: { readonly at: number; readonly timer: ReturnType<typeof setTimeout> } | null;
}

const MOST_KEPT = 200;
/** How long an answer without a chain state stays fresh. */
const CLOCK_MS = 10_000;
/** Blocks refresh an answer at most this often. */
const REFRESH_MS = 30_000;
const NOT_FOUND = 404;

const kept = new Map<string, Kept>();

type BlockOfChain = Pick<ReturnType<typeof chainsOf>[number], 'height' | 'hash'>;
/** Tips of the chains when the stream began, and the time when it began. */
let beginning: { readonly tips: Readonly<Record<string, BlockOfChain | null>>; readonly at: number } | null = null;

/** Returns the answer of a call, and requests it unless a good one is cached. */
export function ask<Path extends GetPath>(call: Call<Path>): Answer<Path> {
  const known = kept.get(call.url);
  const entry = known ?? createEntry(call);
  kept.delete(call.url);
  kept.set(call.url, entry); // newest last
  if (!known || isOutdated(entry)) refresh(entry);
  dropOldest();
  return entry as unknown as Answer<Path>; // it was created from this call
}

/** Whether an answer of one of several paths belongs to this path. */
export function isAnswerOf<Path extends GetPath>(
  answer: { readonly call: { readonly path: GetPath } },
  path: Path,
): answer is Answer<Path> {
  return answer.call.path === path;
}

function createEntry(call: Call): Kept {
  const entry: Kept = {
    call,
    shown: signal(null),
    trouble: signal(null),
    isBusy: signal(false),
    isStale: false,
    url: call.url,
    watchers: 0,
    askedAt: 0,
    due: null,
    next: null,
    refresh: () => {
      if (entry.isBusy.value) outdate(entry, Date.now());
      else refresh(entry);
    },
  };
  return entry;
}

function isOutdated({ shown, isStale, trouble }: Kept): boolean {
  if (isStale || trouble.value !== null) return true;
  const { value } = shown;
  return value !== null && value.chainState === null && Date.now() - value.at > CLOCK_MS;
}

function dropOldest(): void {
  for (const [url, entry] of kept) {
    if (kept.size <= MOST_KEPT) return;
    if (entry.watchers === 0) kept.delete(url);
  }
}

function refresh(entry: Kept): void {
  if (entry.isBusy.value) return;
  if (entry.next) clearTimeout(entry.next.timer);
  entry.next = null;
  entry.isBusy.value = true;
  void fetchInto(entry);
}

async function fetchInto(entry: Kept): Promise<void> {
  const { call, shown, trouble, isBusy } = entry;
  entry.isStale = false;
  entry.askedAt = Date.now();
  const reader = session.peek();
  entry.due = null;
  const { arrived, failure } = await getOrInstead(entry);
  if (failure?.code === 'session_required' && reader) sessionEnded(reader.token);
  batch(() => {
    if (arrived) shown.value = arrived as Shown<never>;
    if (arrived && reader === session.peek()) noteIfStanding(call, arrived.data);
    trouble.value = failure;
    isBusy.value = false;
  });
  if (arrived) repeatIfBeforeStream(entry, arrived);
  if (failure?.retryAt != null) askLater(entry, failure.retryAt);
  askWhenDue(entry);
}

async function getOrInstead(entry: Kept): Promise<Reply> {
  const { url, call } = entry;
  const reply = await get(url);
  if (!call.instead || url === call.instead.url || reply.failure?.code !== call.instead.of) return reply;
  if (call.instead.isForGood) entry.url = call.instead.url;
  return get(call.instead.url);
}

function noteIfStanding({ path }: Call, data: unknown): void {
  if (path === ('/api/usage/now' satisfies GetPath)) noteStanding(data as AnswerOf<'/api/usage/now'>);
}

type Reply =
  | { readonly arrived: Shown<unknown>; readonly failure: null }
  | { readonly arrived: null; readonly failure: Trouble };

async function get(url: string): Promise<Reply> {
  const at = Date.now();
  try {
    // The URL is complete: there are no parameters left to fill in.
    const options = { cache: 'no-cache' } as { [key: string]: unknown };
    const { data, error, response } = await client.GET(url as GetPath, options);
    const isProblem = response.headers.get('Content-Type')?.includes('problem') ?? false;
    const isAnswer = response.ok || (error !== undefined && !isProblem && typeof error === 'object');
    if (!isAnswer) return { arrived: null, failure: troubleOf(error, response) };
    const chainState = response.headers.get('X-Chain-State');
    if (chainState !== null) noteChainState(chainState, at);
    return { arrived: { data: data ?? error, url, chainState, at }, failure: null };
  } catch (error) {
    return { arrived: null, failure: unreachable(error) };
  }
}

/** Schedules a request for that time, sent only if the answer is still watched; the earliest of several times wins. */
function askLater(entry: Kept, at: number): void {
  if (entry.next) {
    if (entry.next.at <= at) return;
    clearTimeout(entry.next.timer);
  }
  const run = () => {
    entry.next = null;
    if (entry.watchers > 0) refresh(entry);
  };
  entry.next = { at, timer: setTimeout(run, Math.max(0, at - Date.now())) };
}

function outdate(entry: Kept, at: number): void {
  entry.isStale = true;
  entry.due = Math.min(entry.due ?? at, at);
  askWhenDue(entry);
}

function outdateUnlessLow(entry: Kept, at: number): void {
  if (isLow.value) entry.isStale = true;
  else outdate(entry, at);
}

function askWhenDue(entry: Kept): void {
  if (entry.due === null || entry.watchers === 0 || entry.isBusy.value) return;
  // A rate limit that was hit is respected until its own time.
  askLater(entry, Math.max(entry.due, entry.trouble.value?.retryAt ?? 0));
}

/** Marks the answer as watched until the returned function is called. */
export function watch(answer: Answer): () => void {
  const entry = kept.get(answer.call.url);
  if (!entry) return () => {};
  entry.watchers += 1;
  askWhenDue(entry); // a block may have arrived after the request
  return () => {
    entry.watchers -= 1;
  };
}

/** A first answer that is still loading may concern any chain; a block may contain what was not found before. */
function mayConcern({ shown: { value }, isBusy, trouble, url }: Kept, chain: string): boolean {
  if (value === null) return isBusy.value || (trouble.value?.status === NOT_FOUND && mayComeWith(chain, url));
  return value.chainState !== null && chainsOf(value.chainState).some(({ name }) => name === chain);
}

function mayComeWith(chain: string, url: string): boolean {
  const named = new URLSearchParams(url.split('?')[1]).get('chain');
  return !needsSession(url) && (named ?? chain) === chain;
}

/** Called when a chain gains or loses a block; `atOnce` when something was taken back. */
export function chainMoved(chain: string, atOnce = false): void {
  for (const entry of kept.values()) {
    if (!mayConcern(entry, chain)) continue;
    const askedAt = entry.shown.value?.at ?? entry.askedAt;
    outdateUnlessLow(entry, atOnce ? Date.now() : askedAt + REFRESH_MS);
  }
}

/** An answer requested before the stream began may lack a block for which no event will arrive. */
export function streamBegan(tips: Readonly<Record<string, BlockOfChain | null>>): void {
  beginning = { tips, at: Date.now() };
  for (const entry of kept.values()) if (entry.shown.value) repeatIfBeforeStream(entry, entry.shown.value);
}

function repeatIfBeforeStream(entry: Kept, { chainState, at }: Shown<unknown>): void {
  if (chainState === null || !beginning || at > beginning.at) return;
  const { tips } = beginning;
  const isBefore = chainsOf(chainState).some(({ name, height, hash }) => {
    const tip = tips[name];
    return tip != null && (height < tip.height || (height === tip.height && hash !== tip.hash));
  });
  // After the greeting by this clock, so that the request is repeated only once.
  if (isBefore) outdateUnlessLow(entry, beginning.at + 1);
}

/** Called when the network is back. */
export function retryFailed(): void {
  for (const entry of kept.values())
    if (entry.watchers > 0 && entry.trouble.value?.code === 'unreachable') refresh(entry);
}

/** Private answers are dropped when another identity becomes the reader, so that they are requested again as that identity. */
effect(() => {
  session.value;
  for (const url of kept.keys()) if (needsSession(url)) kept.delete(url);
});
