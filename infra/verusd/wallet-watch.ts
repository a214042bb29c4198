/**
 * Watches the wallets of a chain's daemons. Clients can query what a wallet contains, so it should be empty. Each daemon is asked
 * separately, at start and every hour, and more often while it does not answer. Whether it still has a wallet is checked when needed.
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
  /** The wallet as of the daemon's last answer; null before the first. */
  readonly wallet: Wallet | null;
  readonly answeredAt: Date | null;
  /** Whether the daemon answered in the last two hours. */
  readonly isFresh: boolean;
  /** Within the last second, the daemon confirmed `wallet` ('answered'), could not be reached ('away'), or neither is known. */
  readonly lately: 'answered' | 'away' | 'unknown';
}

export interface WalletWatch {
  /** Wallets in configuration order. */
  wallets(): readonly WatchedWallet[];
  /** Asks each daemon that has never answered, unless it was just asked, and checks whether the answers of the others are still valid. */
  askUnsure(): Promise<void>;
  close(): Promise<void>;
}

export interface WalletWatchOptions {
  readonly chain: string;
  readonly rpc: string | readonly string[];
  readonly logger: Logger;
  /** Called after every attempt. */
  readonly report?: (wallet: WatchedWallet) => Promise<void>;
  /** Milliseconds; for tests. */
  readonly timing?: Timing;
}

interface Timing {
  readonly everyMs: number;
  /** Pause after the first failure; doubles with each further failure, up to `longestMs`. */
  readonly retryMs: number;
  readonly longestMs: number;
  /** Maximum age of a fresh answer. */
  readonly freshMs: number;
  /** Minimum time between two attempts that `askUnsure` makes. */
  readonly pauseMs: number;
  /** How long a check remains valid; shorter than a daemon takes to restart. */
  readonly latelyMs: number;
}

const HOUR_MS = 3_600_000;
/** The daemon counts a large wallet under its main lock, so a daemon that does not answer is asked less and less often. */
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
/** The first attempt may use a connection that the daemon has already closed. */
const ATTEMPTS = 2;

interface Member {
  readonly daemon: number;
  readonly client: VerusdClient;
  wallet: Wallet | null;
  answeredAt: Date | null;
  /** `answeredMs` and `triedMs` are times of the monotonic clock. */
  answeredMs: number;
  triedMs: number;
  /** Number of failures since the last answer. */
  failures: number;
  asking: Promise<void> | null;
  /** Result of the last check, at `foundMs`; null if it was inconclusive. */
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

  /** Shares one request among concurrent callers. */
  function ask(member: Member): Promise<void> {
    member.asking ??= look(member).finally(() => {
      member.asking = null;
    });
    return member.asking;
  }

  /** Checks again, because the daemon may have been restarted with or without a wallet. */
  async function find(member: Member): Promise<void> {
    try {
      const exists = await askAgain(member.client);
      if (exists === member.wallet?.exists) return note(member, 'answered');
      note(member, null);
      await ask(member);
    } catch (err) {
      note(member, err instanceof DaemonUnreachable ? 'away' : null);
      logger.debug({ chain, daemon: member.daemon, err }, 'a daemon does not report whether it still has a wallet');
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
      await Promise.all(members.map(makeSure)); // again for daemons whose checks have expired while another was slow
    },
    async close() {
      closed.abort();
      await Promise.all(following);
      await Promise.all(members.map(({ client }) => client.close()));
    },
  };
}
