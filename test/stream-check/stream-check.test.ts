/**
 * The push stream in the manner of Jepsen: clients of all kinds follow generated chains while connections break anywhere,
 * the server is killed, and chains reorganise; then everything that each of them heard is held against what happened.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { encodePlaces } from '../../api/push/cursor.ts';
import type { ChainEvent } from '../../client/stream/messages.ts';
import { createRandom } from '../../infra/recorded-node/faults.ts';
import { startChainDaemon } from '../generator/chain-daemon.ts';
import { EVERYTHING } from '../generator/mixes.ts';
import { SEED } from '../setup/seed.ts';
import { startProgram, until } from '../system/program.ts';
import { settingsForAll } from '../system/recorded-chain.ts';
import { checkHistory } from './check-history.ts';
import { startCuttingProxy } from './cutting-proxy.ts';
import { FOLLOWED, type Follower, follow } from './followers.ts';
import { createEventBook } from './history.ts';
import { sseMessages } from './sse-events.ts';
import { readTruth } from './truth.ts';

const number = (name: string, otherwise: number) => Number(process.env[name] ?? otherwise);
const CLIENTS = number('STREAM_CLIENTS', 30);
const SECONDS = number('STREAM_SECONDS', 8);
const KILLS = number('STREAM_KILLS', 2);
const BLOCKS_A_SECOND = number('STREAM_BLOCKS', 10);

const CHAINS: readonly string[] = ['one', 'two'];
const FIRST_BLOCKS = 40;
const chainOf = (number: number) => ({ seed: SEED + number, addresses: 40, transactions: 6, mix: EVERYTHING });
const TICK_MS = 100;
/** Chances in a tick. */
const REORGANISES = 0.08;
const DEEPEST = 12;
/** Connections that break in a second, of all. */
const CUT_SHARE = 0.1;
const MINUTES = 60_000;

/** Of who wants all that the log has. */
const BEGINNING = encodePlaces(new Map(CHAINS.map((chain) => [chain, { position: 0, index: 0 }])));

const random = createRandom(SEED);
const below = (limit: number) => Math.floor(random() * limit);

it(
  `${CLIENTS} clients, ${KILLS} kills, ${SECONDS} s (TEST_SEED=${SEED}): no gap, no double, in order, undo balanced`,
  async () => {
    const daemons = await Promise.all(CHAINS.map((_, number) => startChainDaemon(chainOf(number), FIRST_BLOCKS)));
    const proxy = await startCuttingProxy();
    const settings = settingsForAll(CHAINS.map((name, number) => ({ name, rpc: daemons[number]?.url ?? '' })));
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
    const isLast = ({ type, chain, data }: ChainEvent) =>
      (type === 'block' || type === 'tx') && data.height === ends.get(chain);
    const starts = [await greetingCursor(baseUrl), BEGINNING] as const;
    const followers = Array.from({ length: CLIENTS }, (_, number): Follower => {
      const channels = FOLLOWED.filter((channel) => channel === FOLLOWED[number % 2] || random() < 0.3);
      const way = number % 7 === 3 ? 'sse' : 'websocket';
      const slow = number % 5 === 4;
      return follow({
        name: `${number} by ${way}${slow ? ', slow' : ''}, of ${channels}`,
        baseUrl,
        way,
        channels,
        from: starts[number % 3 === 0 ? 1 : 0],
        slow,
        random,
        book,
        isLast,
        chains: CHAINS,
        signal: stop.signal,
      });
    });

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
        daemon.grow(Math.floor((BLOCKS_A_SECOND * TICK_MS) / 1000 / CHAINS.length + random()));
        highest[number] = Math.max(highest[number] ?? 0, daemon.height);
      }
      for (let n = 0; n < (CLIENTS * CUT_SHARE * TICK_MS) / 1000 + random() - 0.5; n += 1) proxy.cut(random());
    }
    await killing;

    // One more than a chain ever had: a height that comes once.
    for (const [number, daemon] of daemons.entries()) {
      daemon.grow((highest[number] ?? 0) + 1 - daemon.height);
      ends.set(CHAINS[number] ?? '', daemon.height);
    }
    await until(
      'every client has heard of the last block',
      () => followers.every(({ waitsFor }) => waitsFor().length === 0),
      3 * MINUTES,
    ).finally(() => stop.abort());
    await Promise.all(followers.map(({ done }) => done));
    expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
    await proxy.stop();
    for (const daemon of daemons) await daemon.stop();

    const truth = {
      ...(await readTruth(join(settings.DATA_DIR, 'log'), ends)),
      hashAt: (chain: string, height: number) => daemons[CHAINS.indexOf(chain)]?.hashAt(height),
    };
    expect(followers.flatMap(({ history }) => checkHistory(history, truth))).toEqual([]);
    const connections = followers.reduce((sum, follower) => sum + follower.connections(), 0);
    const events = followers.reduce((sum, { history }) => sum + history.events.length, 0);
    console.log(
      `stream check: ${CLIENTS} clients heard ${events} events of ${[...truth.events.values()].flat().length} over ${connections} connections or attempts at one, ` +
        `${proxy.cuts} cut, ${KILLS} kills, ${reorganisations} reorganisations, ${[...ends.values()].reduce((sum, end) => sum + end + 1, 0)} blocks: 0 faults`,
    );
  },
  SECONDS * 2_000 + 10 * MINUTES,
);

async function greetingCursor(baseUrl: string): Promise<string> {
  const stop = new AbortController();
  for await (const { cursor } of sseMessages(`${baseUrl}/api/stream`, null, stop.signal)) {
    stop.abort();
    return cursor;
  }
  throw new Error('the stream did not greet');
}
