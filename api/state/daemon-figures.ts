/** Figures that only a daemon knows: asked once per block; or the last known ones, at once. */
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
  /** Satoshis that stake, estimated. */
  readonly stakingSupply: bigint | null;
  readonly connections: number | null;
}

export interface DaemonFigures {
  /** Satoshis issued, shielded ones included; null where the daemon does not know. @throws what kept it from answering */
  supply(chain: ChainConfig, tip: number): Promise<bigint | null>;
  /** Last figures of the daemon, without waiting; if the tip has changed since, they are refreshed in the background. */
  lastKnown(chain: ChainConfig, tip: number): KnownFigures;
  /** Like supply(), from the daemon's last figures. */
  lastKnownSupply(chain: ChainConfig, tip: number): bigint | null;
  /** When each of them was said last, as text for an ETag; nothing is asked for. */
  saidAt(chain: ChainConfig): string;
}

export interface KnownFigures extends MiningFigures {
  /** When the oldest of them was said, milliseconds since the epoch; null while one of them never was. */
  readonly saidAt: number | null;
}

const TIMEOUT_MS = 10_000;
/** A daemon that was silent is not asked again for so long: each answer would wait for it in vain. */
const QUIET_MS = 5_000;
/** Then it is asked again, and its answer waited for so long: one that still hangs would slow the requests of every such time. */
const RETRY_WAIT_MS = 1_000;
const MEMO_BYTES = 1024 * 1024;
const METHODS = ['getmininginfo', 'getinfo', 'coinsupply'] as const;

type Members = Readonly<Record<string, unknown>>;

/** A call without an answer; the next one that ends takes its place, or ends it by an answer. */
interface Silence {
  /** Milliseconds of the process' clock: none asks before. */
  readonly quietUntil: number;
  readonly error: RetryableError;
  /** Until when the answer to the call that is under way is waited for; undefined before the daemon is asked again. */
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
  /** When it answered last, by refusals too, in milliseconds of the process' clock. */
  const answeredAt = new Map<string, number>();
  const asking = new Set<string>();

  /** Remembered for this tip, but not when it failed. @throws what the daemon's client throws, TypeError */
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
      // No warning: the stage that follows the daemon reports that it is away.
      logger.info({ err: error, chain: chain.name, method }, 'the daemon does not say');
      if (!(error instanceof RetryableError))
        answered(); // by a refusal
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
      void ask(chain, tip, method).then(asked, asked); // its log line says what failed
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
    // An estimate that overflows is printed as hex text.
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
