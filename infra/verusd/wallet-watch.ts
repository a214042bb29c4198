/**
 * The wallets of a chain's daemons: strangers may ask about what they hold, so they should hold nothing. Each daemon is asked by
 * itself, at start and every hour, sooner while it does not answer. Whether there still is a wallet is asked whenever it must be known.
 */
import type { Logger } from '../logger.ts';
import { metrics } from '../metrics.ts';
import { pause } from '../repeat-until.ts';
import { askWallet, hasWallet, type Wallet } from './ask-wallet.ts';
import { DaemonUnreachable } from './daemon-errors.ts';
import { createVerusdClient, type VerusdClient } from './verusd-client.ts';

export interface WatchedWallet {
  /** Place of the daemon in the configuration, from 1. */
  readonly daemon: number;
  /** As it was when the daemon last answered; null before. */
  readonly wallet: Wallet | null;
  readonly answeredAt: Date | null;
  /** It answered in the last two hours. */
  readonly isFresh: boolean;
  /** Within the last second: it answered as `wallet` says, it could not be reached, or neither is known. */
  readonly lately: 'answered' | 'away' | 'unknown';
}

export interface WalletWatch {
  /** In the order of the configuration. */
  wallets(): readonly WatchedWallet[];
  /** Asks each daemon that has not answered yet, unless it was asked a moment ago, and others whether what they said still holds. */
  askUnsure(): Promise<void>;
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
  /** Shorter than a daemon takes to end and start. */
  readonly latelyMs: number;
}

const HOUR_MS = 3_600_000;
/** A large wallet is counted under the daemon's main lock, so one that does not answer is not pressed. */
const TIMING: Timing = {
  everyMs: HOUR_MS,
  retryMs: 10_000,
  longestMs: 300_000,
  freshMs: 2 * HOUR_MS,
  pauseMs: 10_000,
  latelyMs: 1000,
};
const TIMEOUT_MS = 30_000;
const SHORT_TIMEOUT_MS = 10_000;
/** The first may have met a connection that the daemon had ended. */
const ATTEMPTS = 2;

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
  /** What it was found to be, and when. */
  found: Exclude<WatchedWallet['lately'], 'unknown'> | null;
  foundMs: number;
  finding: Promise<void> | null;
}

export function watchWallets(options: WalletWatchOptions): WalletWatch {
  const { chain, rpc, logger, report = async () => undefined, timing = TIMING } = options;
  const addresses = typeof rpc === 'string' ? [rpc] : rpc;
  const closed = new AbortController();
  const members = addresses.map((address, index): Member => {
    const client = createVerusdClient({ rpc: address, chain, logger, connections: 2, timeoutMs: TIMEOUT_MS });
    const never = Number.NEGATIVE_INFINITY;
    const unknown = { wallet: null, answeredAt: null, answeredMs: never, triedMs: never, failures: 0 };
    return { daemon: index + 1, client, ...unknown, asking: null, found: null, foundMs: never, finding: null };
  });

  const isFound = ({ foundMs }: Member) => performance.now() - foundMs < timing.latelyMs;

  const shown = (member: Member): WatchedWallet => {
    const { daemon, wallet, answeredAt, answeredMs, found } = member;
    const lately = isFound(member) && found !== null ? found : 'unknown';
    return { daemon, wallet, answeredAt, isFresh: performance.now() - answeredMs < timing.freshMs, lately };
  };

  function note(member: Member, found: Member['found']): void {
    Object.assign(member, { found, foundMs: performance.now() });
  }

  async function look(member: Member): Promise<void> {
    const { daemon, client } = member;
    try {
      const wallet = await askWallet(client, closed.signal);
      Object.assign(member, { wallet, answeredAt: new Date(), answeredMs: performance.now(), failures: 0 });
      note(member, 'answered');
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

  /** Another process may answer at its address by now, with a wallet or without. */
  async function find(member: Member): Promise<void> {
    try {
      const exists = await askAgain(member.client);
      if (exists === member.wallet?.exists) return note(member, 'answered');
      note(member, null);
      await ask(member);
    } catch (err) {
      note(member, err instanceof DaemonUnreachable ? 'away' : null);
      logger.debug({ chain, daemon: member.daemon, err }, 'a daemon does not say whether it still has a wallet');
    }
  }

  async function askAgain(client: VerusdClient): Promise<boolean> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await hasWallet(client, { signal: closed.signal, timeoutMs: SHORT_TIMEOUT_MS });
      } catch (error) {
        if (attempt === ATTEMPTS || !(error instanceof DaemonUnreachable)) throw error;
      }
    }
  }

  function makeSure(member: Member): Promise<void> | undefined {
    if (isFound(member)) return undefined;
    if (member.wallet === null) return performance.now() - member.triedMs >= timing.pauseMs ? ask(member) : undefined;
    member.finding ??= find(member).finally(() => {
      member.finding = null;
    });
    return member.finding;
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
    async askUnsure() {
      await Promise.all(members.map(makeSure));
      await Promise.all(members.map(makeSure)); // those whose answers have become old while another was slow
    },
    async close() {
      closed.abort();
      await Promise.all(following);
      await Promise.all(members.map(({ client }) => client.close()));
    },
  };
}
