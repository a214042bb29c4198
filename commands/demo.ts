/** The demo's daemon: the bundled recording, its history at once, the reorganisation and the last blocks one by one. */
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

const RECORDING = fileURLToPath(new URL('../recordings/private-network', import.meta.url));

/** Blocks that come one by one after the fork, until the branch that stays has long won. */
const AFTER_FORK = 15;
/** Blocks at the end of the recording that come one by one. */
const LAST_BLOCKS = 30;
const BLOCK_MS = 500;

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
  async function step(signal: AbortSignal): Promise<void> {
    do await sleep(BLOCK_MS, undefined, { signal });
    while (!(await isFollowed()));
    node.step();
  }

  return {
    config: { ...config, chains },
    ended: () => node.ended,
    async play(signal) {
      try {
        while (node.height < node.fork + AFTER_FORK) await step(signal);
        if (node.height < node.tip - LAST_BLOCKS) node.advanceTo(node.tip - LAST_BLOCKS);
        while (!node.ended) await step(signal);
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
