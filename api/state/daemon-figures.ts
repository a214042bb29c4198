/** Figures that only a daemon knows: requested once per block, or the last known ones without waiting. */
import type { LosslessNumber } from 'lossless-json';
import { coinsToSatoshis, type ExactNumber } from '../../domain/satoshi.ts';
import type { Logger } from '../../infra/logger.ts';
import { withTimeLimit } from '../../infra/time-limit.ts';
import { DaemonRpcError } from '../../infra/verusd/daemon-errors.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { RetryableError } from '../../schemas/errors.ts';
import { createMemo } from './memo.ts';

interface MiningFigures {
  /** Difficulty of the next proof-of-work block. */
  readonly difficulty: ExactNumber | null;
  /** Hashes a second. */
  readonly hashRate: ExactNumber | null;
  /** Estimated satoshis that stake. */
  readonly stakingSupply: bigint | null;
  readonly connections: number | null;
}

export interface DaemonFigures {
  /** Issued satoshis, including shielded ones; null when the daemon does not know. @throws the client's error when it does not answer */
  supply(chain: ChainConfig, tip: number): Promise<bigint | null>;
  /** Returns the daemon's last figures without waiting, and refreshes them in the background if the tip has changed. */
  lastKnown(chain: ChainConfig, tip: number): KnownFigures;
  /** Like supply(), from the daemon's last figures. */
  lastKnownSupply(chain: ChainConfig, tip: number): bigint | null;
  /** When the daemon last reported each figure, as text for an ETag; causes no call. */
  saidAt(chain: ChainConfig): string;
}

export interface KnownFigures extends MiningFigures {
  /** When the daemon reported the oldest of them, milliseconds since the epoch; null until all have been reported. */
  readonly saidAt: number | null;
}

const TIMEOUT_MS = 10_000;
/** A daemon that did not answer is not called again for this long: each request would wait for it in vain. */
const QUIET_MS = 5_000;
/** Afterwards one call is made again and waited for only this long: a daemon that still hangs would slow every such request. */
const RETRY_WAIT_MS = 1_000;
const MEMO_BYTES = 1024 * 1024;
const METHODS = ['getmininginfo', 'getinfo', 'coinsupply'] as const;

type Members = Readonly<Record<string, unknown>>;

/** A call without an answer. An answer to a later call ends the silence; a later failure replaces it. */
interface Silence {
  /** No call before this time, in milliseconds of `performance.now()`. */
  readonly quietUntil: number;
  readonly error: RetryableError;
  /** How long requests wait for the call in progress; undefined before the daemon is called again. */
  waitUntil?: number;
}

/** An answer of a daemon. */
interface Said {
  readonly tip: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly members: Members;
}

export function createDaemonFigures(daemons: ReadonlyMap<string, VerusdClient>, logger: Logger): DaemonFigures {
  const memo = createMemo(MEMO_BYTES);
  const lastSaid = new Map<string, Said>();
  const silences = new Map<string, Silence>();
  /** When the daemon last answered, even with an error, in milliseconds of `performance.now()`. */
  const answeredAt = new Map<string, number>();
  const asking = new Set<string>();

  /** Caches the answer for this tip, but no failure. @throws errors of the daemon's client, TypeError */
  async function ask(chain: ChainConfig, tip: number, method: string): Promise<Members> {
    const key = `${chain.name} ${method}`;
    const answer = () => memo.get(key, String(tip), () => call(chain, tip, method));
    const silence = silences.get(key);
    if (!silence) return answer();
    const now = performance.now();
    const { quietUntil, waitUntil = now + RETRY_WAIT_MS } = silence;
    if (now < quietUntil || now >= waitUntil) throw silence.error;
    return withTimeLimit(answer(), waitUntil - now, () => silence.error);
  }

  async function call(chain: ChainConfig, tip: number, method: string): Promise<Members> {
    const key = `${chain.name} ${method}`;
    const began = performance.now();
    const silence = silences.get(key);
    if (silence) silence.waitUntil ??= began + RETRY_WAIT_MS;
    const answered = () => {
      silences.delete(key);
      answeredAt.set(key, performance.now());
    };
    try {
      const answer = await daemons.get(chain.name)?.call(method, [], { timeoutMs: TIMEOUT_MS });
      answered();
      if (typeof answer !== 'object' || answer === null) throw new TypeError(`${method} answered without an object`);
      lastSaid.set(key, { tip, at: Date.now(), members: answer as Members });
      return answer as Members;
    } catch (error) {
      // No warning: the stage that follows the daemon reports that it is unreachable.
      logger.info({ err: error, chain: chain.name, method }, 'the daemon did not return a figure');
      if (!(error instanceof RetryableError))
        answered(); // with an error
      else if ((answeredAt.get(key) ?? Number.NEGATIVE_INFINITY) < began)
        silences.set(key, { quietUntil: performance.now() + QUIET_MS, error });
      throw error;
    }
  }

  function remembered(chain: ChainConfig, tip: number, method: string): Said | undefined {
    const key = `${chain.name} ${method}`;
    const said = lastSaid.get(key);
    if (said?.tip !== tip && !asking.has(key)) {
      asking.add(key);
      const asked = () => asking.delete(key);
      void ask(chain, tip, method).then(asked, asked); // call() has logged the failure
    }
    return said;
  }

  return {
    async supply(chain, tip) {
      try {
        return satoshis((await ask(chain, tip, 'coinsupply')).total);
      } catch (error) {
        if (error instanceof DaemonRpcError || error instanceof TypeError) return null;
        throw error;
      }
    },
    lastKnown(chain, tip) {
      const [mining, info] = [remembered(chain, tip, 'getmininginfo'), remembered(chain, tip, 'getinfo')];
      return {
        ...figuresOf(mining?.members ?? {}, info?.members ?? {}),
        saidAt: mining && info ? Math.min(mining.at, info.at) : null,
      };
    },
    lastKnownSupply: (chain, tip) => satoshis(remembered(chain, tip, 'coinsupply')?.members.total),
    saidAt: ({ name }) => METHODS.map((method) => lastSaid.get(`${name} ${method}`)?.at ?? 0).join('-'),
  };
}

function figuresOf(mining: Members, info: Members): MiningFigures {
  return {
    difficulty: exactNumber(mining.difficulty),
    hashRate: exactNumber(mining.networkhashps),
    // The daemon prints an estimate that overflows as hex text.
    stakingSupply: satoshis(mining.stakingsupply),
    connections: typeof info.connections === 'number' ? info.connections : null,
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
