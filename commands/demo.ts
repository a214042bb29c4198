/** The demo's daemons, which play the bundled recordings: history at once, the rest block by block. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { EventLog } from '../infra/event-log/event-log.ts';
import type { Logger } from '../infra/logger.ts';
import { type RecordedNode, startRecordedNode } from '../recordings/player/recorded-node.ts';
import { standWhere } from '../recordings/player/resume.ts';
import type { Config } from '../schemas/config.ts';
import { decodeBlocksRecord } from '../schemas/log-codec.ts';
import type { BlocksRecord } from '../schemas/log-records.ts';

interface PlayedChain {
  readonly folder: string;
  readonly text: string;
  /** Height up to which blocks are history at the first start; by default a few blocks before the reorganisation. */
  readonly start?: number;
}

/**
 * Recordings by the name of the configured chain. The pair begins half a minute before the transfers from `root` arrive on `pchain`, in
 * its block 267.
 */
const PLAYED: Readonly<Record<string, PlayedChain>> = {
  vrsctest: {
    folder: 'private-network',
    text: 'A recording of a private test chain, which the service plays as if it were live',
  },
  root: {
    folder: 'pbaas/root',
    text: 'A recording of the first chain of another private network, which launched pchain',
    start: 435,
  },
  pchain: {
    folder: 'pbaas/pchain',
    text: 'A recording of the chain that root launched, and with which it trades',
    start: 262,
  },
};

/** Milliseconds between the first blocks, which users watch. */
export interface DemoPace {
  /** Pause until the end of the reorganisation. */
  readonly fork: number;
  /** Pause until the transfers have arrived. */
  readonly transfer: number;
}
const WATCHABLE: DemoPace = { fork: 500, transfer: 3_000 };

/** Number of blocks after the fork that are played at the fork's pace; by then the final branch has long won. */
const AFTER_FORK = 15;
/** The height of pchain at which its transfers have arrived. */
const ARRIVED = 268;
/** Slows the pair down, so that its few remaining blocks last as long as the many of the other chain. */
const BLOCKS_FOR_ONE_OF_PAIR = 30;

export interface Demo {
  /** The configuration with the addresses of the nodes that this process runs. */
  readonly config: Config;
  /** Whether the recording of a chain has ended. */
  ended(chain: string): boolean;
  /** Plays the rest of the recordings; resolves at their end or when the signal aborts. */
  play(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

export async function startDemo(
  config: Config,
  log: Pick<EventLog, 'last'>,
  logger: Logger,
  { fork, transfer }: DemoPace = WATCHABLE,
): Promise<Demo> {
  const chains = await Promise.all(config.chains.map(({ name }) => openChain(name, log)));
  const { demoBlockSeconds } = config;
  const node = (name: string): RecordedNode => {
    const chain = chains.find((played) => played.name === name);
    if (!chain) throw new Error(`the demo does not play ${name}`);
    return chain.node;
  };

  /** Waits until the log has the last block: on a slow machine a branch would otherwise be replaced before any client saw it. */
  async function step(name: string, ms: number, signal: AbortSignal): Promise<void> {
    const isFollowed = async () => (await endOf(log, name))?.hash === node(name).hash;
    do await sleep(ms, undefined, { signal });
    while (!(await isFollowed()));
    node(name).step();
  }

  async function playSingle(signal: AbortSignal): Promise<void> {
    const single = node('vrsctest');
    while (single.height < single.fork + AFTER_FORK) await step('vrsctest', fork, signal);
    while (!single.ended) await step('vrsctest', demoBlockSeconds * 1000, signal);
  }

  /** The two chains were mined together, so the one with more blocks left goes next. */
  async function playPair(signal: AbortSignal): Promise<void> {
    const [root, pchain] = [node('root'), node('pchain')];
    while (!root.ended || !pchain.ended) {
      const name = root.tip - root.height > pchain.tip - pchain.height ? 'root' : 'pchain';
      const pace = pchain.height < ARRIVED ? transfer : BLOCKS_FOR_ONE_OF_PAIR * demoBlockSeconds * 1000;
      await step(name, pace, signal);
    }
  }

  return {
    config: {
      ...config,
      chains: config.chains.map((chain) => ({ ...chain, rpc: node(chain.name).url })),
      recordings: chains.map(({ name, text, node: { tip } }) => ({ chain: name, text, tip })),
    },
    ended: (name) => node(name).ended,
    async play(signal) {
      try {
        await Promise.all([playSingle(signal), playPair(signal)]);
        logger.info('the recordings have ended; the chains do not grow any further');
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
    stop: async () => void (await Promise.all(chains.map((chain) => chain.node.stop()))),
  };
}

async function openChain(name: string, log: Pick<EventLog, 'last'>) {
  const played = PLAYED[name];
  if (!played) throw new Error(`there is no recording of ${name}`);
  const { folder, text, start } = played;
  const node = await startRecordedNode({
    folder: fileURLToPath(new URL(`../recordings/${folder}`, import.meta.url)),
    user: 'demo',
    password: randomBytes(12).toString('hex'),
    startHeight: 0,
  });
  standWhere(node, await endOf(log, name), start);
  return { name, text, node };
}

async function endOf(log: Pick<EventLog, 'last'>, chain: string): Promise<BlocksRecord | null> {
  const record = await log.last('blocks', chain);
  return record && decodeBlocksRecord(record.payload);
}
