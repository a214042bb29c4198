/**
 * Presents several daemons of one chain as one client. Calls go to the first healthy daemon in configuration order, and to the next if it
 * fails. A daemon that fails or lags is tried last until a probe finds it healthy, so that clients see an older state only if no other
 * daemon answers. A daemon that serves another chain is not tried while the group has any other.
 */
import type { DaemonStatus } from '../../schemas/daemon-status.ts';
import { VerustreamError } from '../../schemas/errors.ts';
import { DaemonReplyTooLarge, DaemonRpcError, DaemonTimeout } from './daemon-errors.ts';
import { type DaemonWatchOptions, WATCH_TIMING, type WatchTiming, watchDaemons } from './daemon-watch.ts';
import type { HttpReply } from './http-post.ts';
import { saysWarmingUp } from './rpc-reply.ts';
import { type CallOptions, createVerusdClient, type VerusdClient, type VerusdClientOptions } from './verusd-client.ts';

export interface DaemonGroupOptions extends Omit<VerusdClientOptions, 'rpc'> {
  readonly rpc: string | readonly string[];
  /** i-address of the chain that every daemon must serve. */
  readonly chainId?: string;
  /** Receives the statuses about once a second. Without it, a single daemon is not watched, and several are probed every 5 s. */
  readonly report?: DaemonWatchOptions['report'];
  readonly timing?: WatchTiming;
}

interface Member {
  readonly client: VerusdClient;
  /** A call failed, and no probe has found the daemon up since. */
  failed: boolean;
}

interface Candidate {
  readonly member: Member;
  readonly standing: number;
}

const DEFAULT_TIMEOUT_MS = 30_000;
/** Rank of a daemon; lower ranks are asked first. A daemon that is behind still answers, with an older state. */
const [WELL, BEHIND, DOUBTFUL, FOREIGN] = [0, 1, 2, 3];
/** For groups without `report`. */
const UNHEARD_TIMING: WatchTiming = { ...WATCH_TIMING, everyMs: 5_000 };

/** With one address, returns the client of that daemon. @throws DaemonAddressInvalid */
export function createDaemonGroup({ rpc, chainId, report, timing, ...options }: DaemonGroupOptions): VerusdClient {
  const addresses = typeof rpc === 'string' ? [rpc] : rpc;
  const clients = addresses.map((address) => createVerusdClient({ ...options, rpc: address }));
  const [only, ...others] = clients;
  const { chain, logger } = options;
  if (!only) throw new TypeError(`chain ${chain} has no daemon`);
  const heard = report ?? (() => undefined);
  const watched = { chain, logger, rpc: addresses, report: heard, ...(chainId !== undefined && { chainId }) };
  if (others.length > 0) {
    return groupOf(clients, { ...watched, timing: timing ?? (report ? WATCH_TIMING : UNHEARD_TIMING) }, options);
  }
  if (!report) return only;
  const watch = watchDaemons({ ...watched, ...(timing && { timing }) });
  return {
    ...only,
    async close() {
      await watch.close();
      await only.close();
    },
  };
}

function groupOf(
  clients: readonly VerusdClient[],
  watched: DaemonWatchOptions,
  { chain, logger, timeoutMs: defaultTimeoutMs = DEFAULT_TIMEOUT_MS }: Omit<DaemonGroupOptions, 'rpc'>,
): VerusdClient {
  const members: Member[] = clients.map((client) => ({ client, failed: false }));
  const watch = watchDaemons({
    ...watched,
    report(statuses, looked) {
      const member = members[looked];
      if (member && standingOf(statuses[looked]?.fault) < DOUBTFUL) note(member, false);
      watched.report(statuses, looked);
    },
  });

  /** Sorts unhealthy daemons last, so that they are tried if no better daemon answers. Answers of another chain would be wrong. */
  function inOrder(): Candidate[] {
    const statuses = watch.statuses();
    const ranked = members
      .map((member, index) => {
        const standing = standingOf(statuses[index]?.fault);
        return { member, standing: member.failed ? Math.max(DOUBTFUL, standing) : standing };
      })
      .sort((one, other) => one.standing - other.standing);
    const own = ranked.filter(({ standing }) => standing < FOREIGN);
    return own.length > 0 ? own : ranked;
  }

  function note(member: Member, failed: boolean, err?: unknown): void {
    if (failed !== member.failed) {
      const daemon = member.client.address;
      if (failed) logger.warn({ chain, daemon, err }, 'a daemon failed; asking the next one');
      else logger.info({ chain, daemon }, 'a daemon answers again');
    }
    member.failed = failed;
  }

  /**
   * The time limit applies to the whole call: each daemon gets a share of the remaining time. With `lateMs`, a daemon that is up gets all of
   * `timeoutMs`, and no other is tried if it is late; daemons that do not answer the watch share only the time until `lateMs`.
   */
  async function attempt<T>(
    work: (client: VerusdClient, timeoutMs: number) => Promise<T>,
    { timeoutMs = defaultTimeoutMs, signal, lateMs }: CallOptions,
    isGood: (value: T) => boolean = () => true,
    once = false,
  ): Promise<T> {
    const begun = performance.now();
    const candidates = once ? inOrder().slice(0, 1) : inOrder();
    let last: { readonly value: T } | { readonly error: unknown } | undefined;
    for (const [index, { member, standing }] of candidates.entries()) {
      const mayBeLate = lateMs !== undefined && standing < DOUBTFUL;
      const left = begun + (mayBeLate ? timeoutMs : (lateMs ?? timeoutMs)) - performance.now();
      if (left <= 0) break;
      const shares = mayBeLate ? 1 : candidates.length - index;
      try {
        const value = await work(member.client, Math.ceil(left / shares));
        if (isGood(value)) return value;
        note(member, true);
        last = { value };
      } catch (error) {
        const isLate = mayBeLate && error instanceof DaemonTimeout;
        if (signal?.aborted || isLate || !(error instanceof VerustreamError) || isTheirAnswer(error)) throw error;
        note(member, true, error);
        last = { error };
      }
    }
    if (!last) throw new DaemonTimeout(`${chain}: no daemon was free to take the call within ${timeoutMs / 1000} s`);
    if ('value' in last) return last.value;
    throw last.error;
  }

  /** Whether every other daemon would give the same answer. */
  const isTheirAnswer = (error: unknown) => error instanceof DaemonRpcError || error instanceof DaemonReplyTooLarge;

  const isAwake = ({ body }: HttpReply) => !saysWarmingUp(body);

  return {
    get address() {
      return inOrder()[0]?.member.client.address ?? '';
    },
    call: (method, params, options = {}) =>
      attempt((client, timeoutMs) => client.call(method, params, { ...options, timeoutMs }), options),
    callText: (method, params, options = {}) =>
      attempt((client, timeoutMs) => client.callText(method, params, { ...options, timeoutMs }), options),
    callRaw: (method, params, options = {}) =>
      attempt((client, timeoutMs) => client.callRaw(method, params, { ...options, timeoutMs }), options),
    callRawBatch: (method, params, members, options = {}) =>
      attempt((client, timeoutMs) => client.callRawBatch(method, params, members, { ...options, timeoutMs }), options),
    forward: (body, options) =>
      attempt((client, timeoutMs) => client.forward(body, { ...options, timeoutMs }), options, isAwake, options.once),
    async close() {
      await watch.close();
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}

function standingOf(fault: DaemonStatus['fault'] | undefined): number {
  if (fault === null) return WELL;
  if (fault?.code === 'wrong_chain') return FOREIGN;
  return fault?.code === 'daemon_behind_peers' ? BEHIND : DOUBTFUL;
}
