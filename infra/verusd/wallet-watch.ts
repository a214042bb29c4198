/**
 * The wallets of a chain's daemons: strangers may ask about what they hold, so they should hold nothing. Each daemon is asked by
 * itself, at start and every hour, sooner while it does not answer.
 */
import type { Logger } from '../logger.ts';
import { metrics } from '../metrics.ts';
import { pause } from '../repeat-until.ts';
import { askWallet, type Wallet } from './ask-wallet.ts';
import { createVerusdClient, type VerusdClient } from './verusd-client.ts';

export interface WatchedWallet {
  /** Place of the daemon in the configuration, from 1. */
  readonly daemon: number;
  /** As it was when the daemon last answered; null before. */
  readonly wallet: Wallet | null;
  readonly answeredAt: Date | null;
  /** It answered in the last two hours. */
  readonly isFresh: boolean;
}

export interface WalletWatch {
  /** In the order of the configuration. */
  wallets(): readonly WatchedWallet[];
  /** Asks each daemon that has not answered yet, unless it was asked a moment ago. */
  askUnknown(): Promise<void>;
  close(): Promise<void>;
}

export interface WalletWatchOptions {
  readonly chain: string;
  readonly rpc: string | readonly string[];
  readonly logger: Logger;
  /** Hears of every attempt. */
  readonly report?: (wallet: WatchedWallet) => Promise<void>;
  /** Milliseconds; for tests. */
  readonly timing?: Timing;
}

interface Timing {
  readonly everyMs: number;
  /** After a failure; twice as long after each further one, up to `longestMs`. */
  readonly retryMs: number;
  readonly longestMs: number;
  /** Age up to which an answer counts as fresh, in milliseconds. */
  readonly freshMs: number;
  /** Shortest time between two early refreshes. */
  readonly pauseMs: number;
}

const HOUR_MS = 3_600_000;
/** A large wallet is counted under the daemon's main lock, so one that does not answer is not pressed. */
const TIMING: Timing = {
  everyMs: HOUR_MS,
  retryMs: 10_000,
  longestMs: 300_000,
  freshMs: 2 * HOUR_MS,
  pauseMs: 10_000,
};
const TIMEOUT_MS = 30_000;

interface Member {
  readonly daemon: number;
  readonly client: VerusdClient;
  wallet: Wallet | null;
  answeredAt: Date | null;
  /** Milliseconds of the process' monotonic clock. */
  answeredMs: number;
  triedMs: number;
  /** Since its last answer. */
  failures: number;
  asking: Promise<void> | null;
}

export function watchWallets(options: WalletWatchOptions): WalletWatch {
  const { chain, rpc, logger, report = async () => undefined, timing = TIMING } = options;
  const addresses = typeof rpc === 'string' ? [rpc] : rpc;
  const closed = new AbortController();
  const members = addresses.map((address, index): Member => {
    const client = createVerusdClient({ rpc: address, chain, logger, connections: 1, timeoutMs: TIMEOUT_MS });
    const never = Number.NEGATIVE_INFINITY;
    const unknown = { wallet: null, answeredAt: null, answeredMs: never, triedMs: never, failures: 0 };
    return { daemon: index + 1, client, ...unknown, asking: null };
  });

  const shown = ({ daemon, wallet, answeredAt, answeredMs }: Member): WatchedWallet => {
    return { daemon, wallet, answeredAt, isFresh: performance.now() - answeredMs < timing.freshMs };
  };

  async function look(member: Member): Promise<void> {
    const { daemon, client } = member;
    try {
      const wallet = await askWallet(client, closed.signal);
      Object.assign(member, { wallet, answeredAt: new Date(), answeredMs: performance.now(), failures: 0 });
      metrics.daemonWalletHolds.set({ chain, daemon: String(daemon) }, wallet.holds.length > 0 ? 1 : 0);
      metrics.daemonWalletAnswered.set({ chain, daemon: String(daemon) }, Date.now() / 1000);
      if (wallet.holds.length > 0) {
        const holds = wallet.holds.join(' and ');
        logger.warn(
          { chain, daemon },
          `the wallet of daemon ${daemon} of ${chain} holds ${holds}: give it an empty one`,
        );
      }
    } catch (err) {
      if (closed.signal.aborted) return;
      const level = member.failures > 0 ? 'debug' : 'warn';
      logger[level]({ chain, daemon, err }, `daemon ${daemon} of ${chain} does not report what its wallet holds`);
      member.failures += 1;
    }
    member.triedMs = performance.now();
    await report(shown(member)).catch((err: unknown) =>
      logger.warn({ chain, err }, 'the state of the wallets could not be stored'),
    );
  }

  /** One at a time. */
  function ask(member: Member): Promise<void> {
    member.asking ??= look(member).finally(() => {
      member.asking = null;
    });
    return member.asking;
  }

  async function follow(member: Member): Promise<void> {
    while (!closed.signal.aborted) {
      await ask(member);
      const { failures } = member;
      const retryMs = Math.min(timing.retryMs * 2 ** (failures - 1), timing.longestMs);
      await pause(failures > 0 ? retryMs : timing.everyMs, closed.signal, false);
    }
  }
  const following = members.map(follow);

  return {
    wallets: () => members.map(shown),
    async askUnknown() {
      const isDue = ({ wallet, triedMs }: Member) => wallet === null && performance.now() - triedMs >= timing.pauseMs;
      await Promise.all(members.filter(isDue).map(ask));
    },
    async close() {
      closed.abort();
      await Promise.all(following);
      await Promise.all(members.map(({ client }) => client.close()));
    },
  };
}
