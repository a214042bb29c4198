/** What only a daemon knows of its chain: asked once a block, null when it does not answer. */
import type { LosslessNumber } from 'lossless-json';
import type { Logger } from '../../infra/logger.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { coinsToSatoshis, type ExactNumber } from '../../schemas/satoshi.ts';
import { createMemo } from './memo.ts';

export interface MiningFigures {
  /** Of the next block of proof of work. */
  readonly difficulty: ExactNumber | null;
  /** Hashes a second. */
  readonly hashRate: ExactNumber | null;
  /** Satoshis that stake, estimated. */
  readonly stakingSupply: bigint | null;
  readonly connections: number | null;
}

export interface DaemonFigures {
  /** Satoshis issued, shielded ones included. */
  supply(chain: ChainConfig, tip: number): Promise<bigint | null>;
  mining(chain: ChainConfig, tip: number): Promise<MiningFigures>;
}

const TIMEOUT_MS = 10_000;
const CHAINS = 100;

type Members = Readonly<Record<string, unknown>>;

export function createDaemonFigures(daemons: ReadonlyMap<string, VerusdClient>, logger: Logger): DaemonFigures {
  const memo = createMemo(CHAINS);

  /** Remembered for this tip, but not when it failed. */
  async function ask(chain: ChainConfig, tip: number, method: string): Promise<Members> {
    try {
      return await memo.get(`${chain.name} ${method}`, String(tip), async () => {
        const answer = await daemons.get(chain.name)?.call(method, [], { timeoutMs: TIMEOUT_MS });
        if (typeof answer !== 'object' || answer === null) throw new TypeError(`${method} answered without an object`);
        return answer as Members;
      });
    } catch (err) {
      logger.warn({ err, chain: chain.name, method }, 'the daemon does not say; null is served');
      return {};
    }
  }

  return {
    supply: async (chain, tip) => satoshis((await ask(chain, tip, 'coinsupply')).total),
    async mining(chain, tip) {
      const [mining, info] = await Promise.all([ask(chain, tip, 'getmininginfo'), ask(chain, tip, 'getinfo')]);
      return {
        difficulty: exactNumber(mining.difficulty),
        hashRate: exactNumber(mining.networkhashps),
        // An estimate that overflows is printed as hex text.
        stakingSupply: satoshis(mining.stakingsupply),
        connections: typeof info.connections === 'number' ? info.connections : null,
      };
    },
  };
}

function exactNumber(value: unknown): ExactNumber | null {
  return typeof value === 'number' || isLossless(value) ? value : null;
}

function isLossless(value: unknown): value is LosslessNumber {
  return typeof value === 'object' && value !== null && 'isLosslessNumber' in value;
}

function satoshis(value: unknown): bigint | null {
  const number = exactNumber(value);
  return number === null ? null : coinsToSatoshis(number);
}
