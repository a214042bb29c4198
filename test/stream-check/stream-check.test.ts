/**
 * The push stream in the manner of Jepsen: clients of all kinds follow generated chains while connections break anywhere,
 * the server is killed, and chains reorganise; then everything that each of them received is compared with what happened.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { encodePlaces, feedKey } from '../../api/push/cursor.ts';
import { createRandom } from '../../recordings/player/faults.ts';
import { NATIVE } from '../generator/addresses.ts';
import { startChainDaemon } from '../generator/chain-daemon.ts';
import { EVERYTHING } from '../generator/mixes.ts';
import { SEED } from '../setup/seed.ts';
import { startProgram, until } from '../system/program.ts';
import { settingsForAll } from '../system/recorded-chain.ts';
import { checkHistory } from './check-history.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { FOLLOWED, type Follower, follow } from './followers.ts';
import { createEventBook, UNDO_OF_PRICES, VALUED } from './history.ts';

import { followMempool, type MempoolFollower } from './mempool-followers.ts';

import { followFromSnapshot } from './snapshot-followers.ts';

import { sseMessages } from './sse-events.ts';
import { readBotState, readTruth, type Topics } from './truth.ts';

const number = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise);
const CLIENTS = number('STREAM_CLIENTS', 30);
const SECONDS = number('STREAM_SECONDS', 8);
const KILLS = number('STREAM_KILLS', 2);
const BLOCKS_A_SECOND = number('STREAM_BLOCKS', 10);

const CHAINS: readonly string[] = ['one', 'two'];
/** Enough blocks for baskets that price something. */
const FIRST_BLOCKS = 120;
const chainOf = (number: number) => ({
  seed: SEED + number,
  addresses: 40,
  transactions: 6,
  mix: EVERYTHING,
  mempool: true,
});
const TICK_MS = 100;
/** Probabilities per tick. */
const REORGANISES = 0.08;
const FORGETS = 0.05;
/** Blocks at the end, each of which is added once every client holds the waiting transactions. */
const MEMPOOL_ROUNDS = 4;
const DEEPEST = 12;
const FINALITY_DEPTH = 60;
/** Confirmations of the clients, in turn; some reorganisations reach confirmed blocks. */
const CONFIRMATIONS = [0, 0, 3, 8];
/** Share of all connections that break in a second. */
const CUT_SHARE = 0.1;
const MINUTES = 60_000;
const SILENCE_MS = 30_000;

/** Cursor of a client that wants everything in the log. */
const START = { position: 0, index: 0 };
const BEGINNING = encodePlaces(
  new Map(CHAINS.flatMap((chain) => (['facts', 'stamps'] as const).map((topic) => [feedKey(topic, chain), START]))),
);

const random = createRandom(SEED);
const below = (limit: number) => Math.floor(random() * limit);

it(
  `${CLIENTS} clients, ${KILLS} kills, ${SECONDS} s (TEST_SEED=${SEED}): no gap, no duplicate, in order, undo balanced`,
  async () => {
    const daemons = await Promise.all(CHAINS.map((_, number) => startChainDaemon(chainOf(number), FIRST_BLOCKS)));
    const proxy = await startCuttingProxy();
    const settings = settingsForAll(
      CHAINS.map((name, number) => ({
        name,
        rpc: daemons[number]?.url ?? '',
        stableAnchors: [NATIVE],
        minBasketAge: 2,
        finalityDepth: FINALITY_DEPTH,
      })),
      { minBasketDepthUsd: 0 }, // with some seeds no basket is deep
    );
    const stop = new AbortController();
    let program = await startProgram(settings).answers();
    const bring = async () => {
      await program.answers();
      proxy.target = Number(new URL(program.base).port);
    };
    await bring();
    const baseUrl = `http://127.0.0.1:${proxy.port}`;
    const book = createEventBook();
    const ends = new Map<string, number>();
    const starts = [await greetingCursor(baseUrl), BEGINNING] as const;
    const followers = Array.from({ length: CLIENTS }, (_, number): Follower => {
      const byValue = number % 4 === 0;
      const always = [FOLLOWED[number % 2], ...(byValue ? ['conversions', 'prices'] : [])];
      const channels = FOLLOWED.filter((channel) => always.includes(channel) || random() < 0.3);
      const way = number % 7 === 3 ? 'sse' : 'websocket';
      const slow = number % 5 === 4;
      const confirmations = CONFIRMATIONS[(number >> 1) % CONFIRMATIONS.length] ?? 0;
      return follow({
        name: `${number} by ${way}${slow ? ', slow' : ''}, of ${channels}${byValue ? ' by value' : ''}, confirmations ${confirmations}`,
        baseUrl,
        way,
        channels,
        byValue,
        confirmations,
        from: starts[number % 3 === 0 ? 1 : 0],
        slow,
        random,
        book,
        chains: CHAINS,
        signal: stop.signal,
      });
    });

    const ofMempool = Array.from({ length: Math.ceil(CLIENTS / 5) }, (_, number) =>
      followMempool({
        baseUrl,
        number,
        way: number % 3 === 1 ? 'sse' : 'websocket',
        slow: number % 3 === 2,
        random,
        signal: stop.signal,
      }),
    );

    let isCalm = false;
    const bots = Array.from({ length: Math.ceil(CLIENTS / 5) }, (_, number) =>
      followFromSnapshot({ name: `bot ${number}`, baseUrl, random, signal: stop.signal, mayForget: () => !isCalm }),
    );
    let reorganisations = 0;
    const highest = CHAINS.map(() => 0);
    const killing = kill();
    async function kill(): Promise<void> {
      for (let kills = 0; kills < KILLS; kills += 1) {
        await sleep((0.5 + random()) * ((SECONDS * 1000) / (KILLS + 1)));
        proxy.target = null;
        await program.kill('SIGKILL');
        program = startProgram(settings);
        await bring();
      }
    }
    for (const last = Date.now() + SECONDS * 1000; Date.now() < last; await sleep(TICK_MS)) {
      for (const [number, daemon] of daemons.entries()) {
        if (random() < REORGANISES / CHAINS.length) {
          reorganisations += 1;
          daemon.reorganise(1 + below(DEEPEST), below(DEEPEST + 2));
        }
        if (random() < FORGETS / CHAINS.length) daemon.forget();
        daemon.grow(Math.floor((BLOCKS_A_SECOND * TICK_MS) / 1000 / CHAINS.length + random()));
        highest[number] = Math.max(highest[number] ?? 0, daemon.height);
      }
      for (let n = 0; n < (CLIENTS * CUT_SHARE * TICK_MS) / 1000 + random() - 0.5; n += 1) proxy.cut(random());
    }
    await killing;
    const heldBy = () => untilMempoolsHeld(ofMempool, (chain) => daemons[CHAINS.indexOf(chain)]?.waiting() ?? []);
    for (let round = 0; round < MEMPOOL_ROUNDS; round += 1) {
      await heldBy();
      for (const [number, daemon] of daemons.entries()) {
        daemon.grow(1);
        highest[number] = Math.max(highest[number] ?? 0, daemon.height);
      }
      proxy.cut(random());
    }

    // One block more than a chain ever had: a height that occurs once.
    for (const [number, daemon] of daemons.entries()) {
      daemon.grow((highest[number] ?? 0) + 1 - daemon.height);
      ends.set(CHAINS[number] ?? '', daemon.height);
    }
    const logFolder = join(settings.DATA_DIR, 'log');
    const topics = new Map<number, Topics>();
    for (const confirmations of new Set(CONFIRMATIONS)) {
      const look = () => readTruth(logFolder, ends, FINALITY_DEPTH, confirmations);
      topics.set(confirmations, await untilThere('the topics hold the last block', look, 3 * MINUTES));
    }
    const topicsOf = ({ history }: Follower) => topics.get(history.confirmations) as Topics;
    isCalm = true;
    await untilHeard(followers, topicsOf).catch((error: unknown) => {
      stop.abort();
      throw error;
    });
    await heldBy();
    await until('the bots have their snapshots', async () => bots.every((bot) => bot.places() !== null), MINUTES);
    stop.abort();
    await Promise.all([...followers, ...bots, ...ofMempool].map(({ done }) => done));
    expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
    await proxy.stop();
    for (const daemon of daemons) await daemon.stop();

    const hashAt = (chain: string, height: number) => daemons[CHAINS.indexOf(chain)]?.hashAt(height);
    const faults = followers.flatMap((follower) => checkHistory(follower.history, { ...topicsOf(follower), hashAt }));
    expect(faults).toEqual([]);
    for (const bot of bots) {
      const wanted = await readBotState(logFolder, bot.places() ?? new Map(), FINALITY_DEPTH);
      expect(bot.faults).toEqual([]);
      expect([bot.name, ...differences(bot.state().current(), wanted.current())]).toEqual([bot.name]);
    }
    expect(ofMempool.flatMap(({ name, faults }) => faults.slice(0, 3).map((fault) => `${name}: ${fault}`))).toEqual([]);
    const mempoolChanges = ofMempool.reduce((sum, { changes }) => sum + changes, 0);
    const snapshots = ofMempool.reduce((sum, follower) => sum + follower.snapshots, 0);
    const reasons = Object.fromEntries(ofMempool[0]?.gone ?? []);
    expect(mempoolChanges).toBeGreaterThan(0);
    expect(ofMempool.some(({ gone }) => (gone.get('mined') ?? 0) > 0)).toBe(true);
    const connections = followers.reduce((sum, follower) => sum + follower.connections(), 0);
    const events = followers.reduce((sum, { history }) => sum + history.events.length, 0);
    const happened = [...(topics.get(0)?.events.values() ?? [])].flat();
    const count = (type: string) => happened.filter((event) => event.type === type).length;
    console.log(
      `mempool: ${ofMempool.length} clients heard ${mempoolChanges} changes and ${snapshots} snapshots; the first, of what went: ${JSON.stringify(reasons)}`,
    );
    console.log(
      `stream check: ${CLIENTS} clients heard ${events} events of ${happened.length} (${count('price')} prices, ${count(VALUED)} values, ${count(UNDO_OF_PRICES)} times taken back) over ${connections} connections or attempts at one, ` +
        `${proxy.cuts} cut, ${KILLS} kills, ${reorganisations} reorganisations, ${[...ends.values()].reduce((sum, end) => sum + end + 1, 0)} blocks, ` +
        `${bots.reduce((sum, bot) => sum + bot.snapshots(), 0)} snapshots of ${bots.length} bots, the last ${bots[0]?.state().rows()} rows: 0 faults`,
    );
  },
  SECONDS * 2_000 + 10 * MINUTES,
);

function differences(held: ReadonlyMap<string, string>, wanted: ReadonlyMap<string, string>): string[] {
  const keys = new Set([...held.keys(), ...wanted.keys()]);
  return [...keys]
    .filter((key) => held.get(key) !== wanted.get(key))
    .map((key) => `${key}: held ${held.get(key)}, is ${wanted.get(key)}`);
}

/** Waits until every client has received the last block and price, for as long as the other clients receive more events. */
async function untilHeard(followers: readonly Follower[], topicsOf: (follower: Follower) => Topics): Promise<void> {
  const leftOf = () => followers.filter((follower) => follower.waitsFor(topicsOf(follower).ends).length > 0);
  const heardBy = (some: readonly Follower[]) => some.reduce((sum, { history }) => sum + history.events.length, 0);
  let left = leftOf();
  for (let [heard, since] = [heardBy(left), Date.now()]; left.length > 0; left = leftOf()) {
    await sleep(TICK_MS);
    if (heardBy(left) !== heard) [heard, since] = [heardBy(left), Date.now()];
    if (Date.now() - since < SILENCE_MS) continue;
    const waiting = left.map((follower) => `${follower.history.client}: ${follower.waitsFor(topicsOf(follower).ends)}`);
    throw new Error(`${left.length} clients receive nothing more and have not received the end: ${waiting.join('; ')}`);
  }
}

/** Waits until every client of the mempool holds what the daemons hold. */
async function untilMempoolsHeld(
  followers: readonly MempoolFollower[],
  waitingAt: (chain: string) => readonly string[],
): Promise<void> {
  const differs = (follower: MempoolFollower) =>
    CHAINS.some((chain) => {
      const held = follower.held(chain);
      const waiting = waitingAt(chain);
      return held.size !== waiting.length || !waiting.every((txid) => held.has(txid));
    });
  await until('all clients of the mempool hold what waits', async () => !followers.some(differs), 3 * MINUTES);
}

async function untilThere<T>(what: string, look: () => Promise<T | null>, ms: number): Promise<T> {
  let found: T | null = null;
  const isThere = async () => {
    found = await look();
    return found !== null;
  };
  await until(what, isThere, ms);
  if (found === null) throw new Error(what);
  return found;
}

async function greetingCursor(baseUrl: string): Promise<string> {
  const stop = new AbortController();
  for await (const { cursor } of sseMessages(`${baseUrl}/api/stream`, null, stop.signal)) {
    stop.abort();
    return cursor;
  }
  throw new Error('the stream did not greet');
}
