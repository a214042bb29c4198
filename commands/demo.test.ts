/** Plays the demo's daemons without pauses, and restarts them in the middle. */
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { loadConfig } from '../infra/config/load-config.ts';
import type { LogRecord } from '../infra/event-log/event-log.ts';
import { createVerusdClient } from '../infra/verusd/verusd-client.ts';
import { encodeBlocksRecord } from '../schemas/log-codec.ts';
import { type Demo, startDemo } from './demo.ts';

const logger = pino({ level: 'silent' });
const AT_ONCE = { fork: 0, transfer: 0 };
const open: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

interface Place {
  readonly height: number;
  readonly hash: string;
}

/** A log that has each block as soon as the daemon has it, and records the heights. */
function followingLog() {
  const heights = new Map<string, number[]>();
  const places = new Map<string, Place>();
  const clients = new Map<string, ReturnType<typeof createVerusdClient>>();
  return {
    heights,
    follow({ config }: Demo) {
      for (const { name, rpc } of config.chains) {
        const client = createVerusdClient({ rpc: String(rpc), chain: name, logger });
        clients.set(name, client);
        open.push(() => client.close());
      }
    },
    async look(chain: string) {
      const info = (await clients.get(chain)?.call('getblockchaininfo', [], { timeoutMs: 60_000 })) as {
        blocks: number;
        bestblockhash: string;
      };
      const place = { height: info.blocks, hash: info.bestblockhash };
      if (places.get(chain)?.hash !== place.hash) heights.set(chain, [...(heights.get(chain) ?? []), place.height]);
      places.set(chain, place);
      return place;
    },
    async last(_topic: string, chain: string): Promise<LogRecord | null> {
      const place = clients.has(chain) ? await this.look(chain) : places.get(chain);
      if (!place) return null;
      const record = {
        kind: 'block',
        position: 0,
        previousHash: null,
        time: 0,
        block: Buffer.from('{}'),
        ...place,
      } as const;
      return { position: 0, payload: encodeBlocksRecord(record) };
    },
    forgetDaemons: () => clients.clear(),
  };
}

async function start(log: ReturnType<typeof followingLog>): Promise<Demo> {
  const config = { ...loadConfig({}), demoBlockSeconds: 0 };
  const demo = await startDemo(config, log, logger, AT_ONCE);
  open.push(() => demo.stop());
  log.follow(demo);
  return demo;
}

it('plays the reorganisation of one recording, and the pair to its end, block by block', async () => {
  const log = followingLog();
  const demo = await start(log);
  expect(demo.config.recordings.map(({ chain, tip }) => [chain, tip])).toEqual([
    ['vrsctest', 1551],
    ['root', 450],
    ['pchain', 277],
  ]);
  const chains = demo.config.chains.map(({ name }) => name);
  const began = await Promise.all(chains.map((chain) => log.look(chain)));
  expect(began.map(({ height }) => height)).toEqual([840, 435, 262]); // before the fork (846 to 854) and the transfers (267)
  expect(chains.map(demo.ended)).toEqual([false, false, false]);

  const stop = new AbortController();
  const playing = demo.play(stop.signal);
  const newest = (chain: string) => log.heights.get(chain)?.at(-1) ?? 0;
  await expect.poll(() => newest('vrsctest') > 870 && demo.ended('root') && demo.ended('pchain')).toBe(true);
  stop.abort();
  await playing;
  for (const chain of chains) await log.look(chain);
  expect(chains.map(demo.ended)).toEqual([false, true, true]);
  const between = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);
  expect(log.heights.get('vrsctest')).toEqual([...between(840, 854), ...between(852, newest('vrsctest'))]);
  expect(log.heights.get('root')).toEqual(between(435, 450));
  expect(log.heights.get('pchain')).toEqual(between(262, 277));
});

it('continues where the log ends, and stops on abort', async () => {
  const log = followingLog();
  const first = await start(log);
  const stop = new AbortController();
  const playing = first.play(stop.signal);
  await expect.poll(() => log.heights.get('pchain')?.at(-1)).toBeGreaterThan(264);
  stop.abort();
  await playing;
  for (const { name } of first.config.chains) await log.look(name);
  log.forgetDaemons();

  const reached = first.config.chains.map(({ name }) => log.heights.get(name)?.at(-1));
  const again = await start(log);
  const places = await Promise.all(again.config.chains.map(({ name }) => log.look(name)));
  expect(places.map(({ height }) => height)).toEqual(reached);
});
