/** The demo's daemon: the bundled recording, its history at once, the reorganisation in seconds, and the rest at the pace of a chain. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { EventLog } from '../infra/event-log/event-log.ts';
import type { Logger } from '../infra/logger.ts';
import { startRecordedNode } from '../recordings/player/recorded-node.ts';
import { standWhere } from '../recordings/player/resume.ts';
import type { Config } from '../schemas/config.ts';
import { decodeBlocksRecord } from '../schemas/log-codec.ts';
import type { BlocksRecord } from '../schemas/log-records.ts';

const TEXT = 'A recording of a private test chain, which the service plays as if it were live';
const RECORDING = fileURLToPath(new URL('../recordings/private-network', import.meta.url));

/** Blocks that come one by one after the fork, until the branch that stays has long won. */
const AFTER_FORK = 15;
/** Up to there; slow enough to be watched. */
const FORK_BLOCK_MS = 500;

export interface Demo {
  /** Configuration with the address of the node that this process runs. */
  readonly config: Config;
  ended(): boolean;
  /** Plays the rest of the recording; resolves at its end or when the signal aborts. */
  play(signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

export async function startDemo(config: Config, log: EventLog, logger: Logger): Promise<Demo> {
  const node = await startRecordedNode({
    folder: RECORDING,
    user: 'demo',
    password: randomBytes(12).toString('hex'),
    startHeight: 0,
  });
  for (const chain of config.chains) standWhere(node, await endOf(log, chain.name));
  const chains = config.chains.map((chain) => ({ ...chain, rpc: node.url }));

  const isFollowed = async (): Promise<boolean> => {
    const ends = await Promise.all(config.chains.map(({ name }) => endOf(log, name)));
    return ends.every((end) => end?.hash === node.hash);
  };

  /** Not before the block was taken: on a slow machine the branch would have changed before anybody saw the one that is left. */
  async function step(ms: number, signal: AbortSignal): Promise<void> {
    do await sleep(ms, undefined, { signal });
    while (!(await isFollowed()));
    node.step();
  }

  return {
    config: { ...config, chains, recordings: chains.map(({ name }) => ({ chain: name, text: TEXT, tip: node.tip })) },
    ended: () => node.ended,
    async play(signal) {
      try {
        while (node.height < node.fork + AFTER_FORK) await step(FORK_BLOCK_MS, signal);
        while (!node.ended) await step(config.demoBlockSeconds * 1000, signal);
        logger.info({ height: node.height }, 'the recording has ended; the chain does not grow any further');
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    },
    stop: () => node.stop(),
  };
}

async function endOf(log: EventLog, chain: string): Promise<BlocksRecord | null> {
  const record = await log.last('blocks', chain);
  return record && decodeBlocksRecord(record.payload);
}
