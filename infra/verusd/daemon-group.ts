/**
 * Several daemons of one chain as one: the first healthy one of the configured order is asked, the next when it fails.
 * A daemon that fails or stays behind is left out until a probe finds it well, so that nobody sees the chain go back.
 */
import { VerustreamError } from '../../schemas/errors.ts';
import { metrics } from '../metrics.ts';
import { DaemonRpcError, DaemonTimeout } from './daemon-errors.ts';
import type { HttpReply } from './http-post.ts';
import { saysWarmingUp } from './rpc-reply.ts';
import { type CallOptions, createVerusdClient, type VerusdClient, type VerusdClientOptions } from './verusd-client.ts';

export interface DaemonGroupOptions extends Omit<VerusdClientOptions, 'rpc'> {
  readonly rpc: string | readonly string[];
  /** Pause between two looks at every daemon. */
  readonly probeMs?: number;
}

interface Member {
  readonly client: VerusdClient;
  failed: boolean;
  /** As of its last probe. */
  height: number;
}

const DEFAULT_TIMEOUT_MS = 30_000;
const PROBE_MS = 5_000;
const PROBE_TIMEOUT_MS = 5_000;
/** Blocks arrive at several nodes within seconds of each other. */
const MAX_BLOCKS_BEHIND = 2;

/** With one address it is that daemon's client. @throws DaemonAddressInvalid */
export function createDaemonGroup({ rpc, probeMs = PROBE_MS, ...options }: DaemonGroupOptions): VerusdClient {
  const addresses = typeof rpc === 'string' ? [rpc] : rpc;
  const clients = addresses.map((address) => createVerusdClient({ ...options, rpc: address }));
  const [only, ...others] = clients;
  if (!only) throw new TypeError(`chain ${options.chain} has no daemon`);
  return others.length === 0 ? only : groupOf(clients, probeMs, options);
}

function groupOf(
  clients: readonly VerusdClient[],
  probeMs: number,
  { chain, logger, timeoutMs: defaultTimeoutMs = DEFAULT_TIMEOUT_MS }: Omit<DaemonGroupOptions, 'rpc'>,
): VerusdClient {
  const members: Member[] = clients.map((client) => ({ client, failed: false, height: 0 }));
  const closed = new AbortController();

  /** Compared with those that answer: while the one ahead is gone, who is behind is the best there is. */
  function isHealthy(member: Member): boolean {
    const highest = Math.max(...members.filter(({ failed }) => !failed).map(({ height }) => height));
    return !member.failed && member.height >= highest - MAX_BLOCKS_BEHIND;
  }

  /** Those that are not healthy stand last: with nothing better they are tried all the same. */
  function inOrder(): Member[] {
    const healthy = members.filter(isHealthy);
    return [...healthy, ...members.filter((member) => !healthy.includes(member))];
  }

  function note(member: Member, failed: boolean, err?: unknown): void {
    if (failed !== member.failed) {
      const daemon = member.client.address;
      if (failed) logger.warn({ chain, daemon, err }, 'a daemon fails; the next one is asked');
      else logger.info({ chain, daemon }, 'a daemon is well again');
    }
    member.failed = failed;
  }

  async function probe(member: Member): Promise<void> {
    try {
      const options = { timeoutMs: PROBE_TIMEOUT_MS, signal: closed.signal };
      member.height = Number(await member.client.call('getblockcount', [], options));
      note(member, false);
    } catch (error) {
      if (!closed.signal.aborted) note(member, true, error);
    }
  }

  async function probeAll(): Promise<void> {
    await Promise.all(members.map(probe));
    for (const member of members) {
      metrics.daemonHealthy.set({ chain, daemon: member.client.address }, isHealthy(member) ? 1 : 0);
    }
    if (!closed.signal.aborted) timer = setTimeout(() => void probeAll(), probeMs).unref();
  }
  let timer: NodeJS.Timeout | undefined;
  void probeAll();

  /** The time limit is the call's, however many daemons are tried: each gets its share of what is left. */
  async function attempt<T>(
    work: (client: VerusdClient, timeoutMs: number) => Promise<T>,
    { timeoutMs = defaultTimeoutMs, signal }: CallOptions,
    isGood: (value: T) => boolean = () => true,
    once = false,
  ): Promise<T> {
    const deadline = performance.now() + timeoutMs;
    const candidates = once ? inOrder().slice(0, 1) : inOrder();
    let last: { readonly value: T } | { readonly error: unknown } | undefined;
    for (const [index, member] of candidates.entries()) {
      const left = deadline - performance.now();
      if (left <= 0) break;
      try {
        const value = await work(member.client, Math.ceil(left / (candidates.length - index)));
        if (isGood(value)) return value;
        note(member, true);
        last = { value };
      } catch (error) {
        if (signal?.aborted || !(error instanceof VerustreamError) || error instanceof DaemonRpcError) throw error;
        note(member, true, error);
        last = { error };
      }
    }
    if (!last) throw new DaemonTimeout(`${chain}: no daemon was asked within ${timeoutMs / 1000} s`);
    if ('value' in last) return last.value;
    throw last.error;
  }

  const isAwake = ({ body }: HttpReply) => !saysWarmingUp(body);

  return {
    get address() {
      return inOrder()[0]?.client.address ?? '';
    },
    call: (method, params, options = {}) =>
      attempt((client, timeoutMs) => client.call(method, params, { ...options, timeoutMs }), options),
    callText: (method, params, options = {}) =>
      attempt((client, timeoutMs) => client.callText(method, params, { ...options, timeoutMs }), options),
    callRaw: (method, params, options = {}) =>
      attempt((client, timeoutMs) => client.callRaw(method, params, { ...options, timeoutMs }), options),
    forward: (body, options) =>
      attempt((client, timeoutMs) => client.forward(body, { ...options, timeoutMs }), options, isAwake, options.once),
    async close() {
      closed.abort();
      clearTimeout(timer);
      await Promise.all(clients.map((client) => client.close()));
    },
  };
}
