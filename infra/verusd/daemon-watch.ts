/**
 * Watches the status of each daemon of a chain: calls getinfo once a second on a separate connection, so that long calls of others do not
 * make a daemon look dead.
 */
import type { DaemonStatus } from '../../schemas/daemon-status.ts';
import { describeError } from '../../schemas/errors.ts';
import type { Logger } from '../logger.ts';
import { metrics } from '../metrics.ts';
import { pause } from '../repeat-until.ts';
import { DaemonGarbage, DaemonHttpError, DaemonTimeout, DaemonUnreachable } from './daemon-errors.ts';
import { createVerusdClient, type VerusdClient } from './verusd-client.ts';

export interface DaemonWatch {
  /** Statuses in configuration order. A daemon counts as healthy until its first probe ends. */
  statuses(): readonly DaemonStatus[];
  close(): Promise<void>;
}

export interface DaemonWatchOptions {
  readonly chain: string;
  readonly rpc: readonly string[];
  /** i-address of the chain that each daemon must serve; without it any chain is accepted. */
  readonly chainId?: string;
  readonly logger: Logger;
  /** Called after every probe; `looked` is the index of the probed daemon. */
  readonly report: (statuses: readonly DaemonStatus[], looked: number) => void;
  readonly timing?: WatchTiming;
}

/** Milliseconds. */
export interface WatchTiming {
  /** Time from the start of one probe to the start of the next. */
  readonly everyMs: number;
  /** A daemon that takes longer counts as hung. */
  readonly timeoutMs: number;
}

/** Detects a daemon that hangs for three seconds or longer, within three seconds. */
export const WATCH_TIMING: WatchTiming = { everyMs: 1000, timeoutMs: 2000 };

/** Tolerated lag, because a block reaches several nodes within seconds of each other. */
const MAX_BLOCKS_BEHIND = 2;
const ATTEMPTS = 2;
/** A timeout that fires this much too late means that this process was too busy to read the reply. */
const LATE_MS = 250;

interface Member {
  readonly place: number;
  readonly client: VerusdClient;
  height: number | null;
  peersHeight: number | null;
  fault: DaemonStatus['fault'];
  /** Code of the fault that was logged last; null for none. */
  known: string | null;
}

/** @throws DaemonAddressInvalid */
export function watchDaemons(options: DaemonWatchOptions): DaemonWatch {
  const { chain, rpc, chainId, logger, report, timing = WATCH_TIMING } = options;
  const { everyMs, timeoutMs } = timing;
  const closed = new AbortController();
  const members = rpc.map((address, index): Member => {
    const client = createVerusdClient({ rpc: address, chain, logger, connections: 1, timeoutMs });
    return { place: index + 1, client, height: null, peersHeight: null, fault: null, known: null };
  });

  /** Asks once more if a reply was lost or this process did not read it in time, because neither indicates a fault of the daemon. */
  async function ask(client: VerusdClient): Promise<unknown> {
    for (let attempt = 1; ; attempt += 1) {
      const begun = performance.now();
      try {
        return await client.call('getinfo', [], { timeoutMs, signal: closed.signal });
      } catch (error) {
        const isLate = error instanceof DaemonTimeout && performance.now() - begun > timeoutMs + LATE_MS;
        if (attempt === ATTEMPTS || !(isLate || isHiccup(error))) throw error;
      }
    }
  }

  async function look(member: Member): Promise<void> {
    try {
      const { blocks, longestchain, chainid, name } = ((await ask(member.client)) ?? {}) as Readonly<
        Record<string, unknown>
      >;
      if (typeof blocks !== 'number') throw new DaemonGarbage(`getinfo of ${member.client.address} returned no height`);
      member.height = blocks;
      member.peersHeight = typeof longestchain === 'number' && longestchain > 0 ? longestchain : null;
      member.fault = isOther(chainid, chainId) ? otherChain(member, chain, name, chainid) : null;
    } catch (error) {
      if (closed.signal.aborted) return;
      member.fault = describeError(error);
    }
    publish(member);
  }

  function publish(member: Member): void {
    const statuses = statusesOf(chain, members);
    for (const [index, { fault }] of statuses.entries()) {
      // Identified by its place in the configuration: /metrics may be public, but the address is not.
      metrics.daemonHealthy.set({ chain, daemon: String(index + 1) }, fault === null ? 1 : 0);
    }
    const fault = statuses[member.place - 1]?.fault ?? null;
    if ((fault?.code ?? null) !== member.known) {
      member.known = fault?.code ?? null;
      const about = { chain, daemon: member.place, code: fault?.code };
      // For a single daemon, the stage that follows it already warns about every other fault.
      const level = members.length > 1 || fault?.code === 'daemon_behind_peers' ? 'warn' : 'info';
      if (fault) logger[level](about, `daemon ${member.place} of ${chain}: ${fault.message}`);
      else logger.info(about, `daemon ${member.place} of ${chain} is healthy again`);
    }
    report(statuses, member.place - 1);
  }

  /** One loop per daemon, so that a daemon that hangs does not delay the others. */
  async function follow(member: Member): Promise<void> {
    while (!closed.signal.aborted) {
      const begun = performance.now();
      await look(member);
      const left = Math.max(0, begun + everyMs - performance.now());
      await pause(left, closed.signal, false);
    }
  }
  const following = members.map(follow);

  return {
    statuses: () => statusesOf(chain, members),
    async close() {
      closed.abort();
      await Promise.all(following);
      await Promise.all(members.map(({ client }) => client.close()));
    },
  };
}

/** The peers of a daemon are the nodes that it is connected to and the other healthy daemons of the chain. */
function statusesOf(chain: string, members: readonly Member[]): DaemonStatus[] {
  const known = members.flatMap(({ fault, height }) => (fault === null && height !== null ? [height] : []));
  const highest = Math.max(-1, ...known);
  return members.map(({ place, height, peersHeight, fault }) => {
    const reached = Math.max(highest, peersHeight ?? -1);
    const isBehind = fault === null && height !== null && height < reached - MAX_BLOCKS_BEHIND;
    return { height, peersHeight, fault: isBehind ? behind(chain, place, height, reached) : fault };
  });
}

function behind(chain: string, place: number, height: number, reached: number): DaemonStatus['fault'] {
  const message = `Daemon ${place} of ${chain} is at height ${height}, its peers are at ${reached}.`;
  return { code: 'daemon_behind_peers', message };
}

/** A daemon that does not name its chain is trusted to serve the configured one, as in the tailer. */
function isOther(served: unknown, expected: string | undefined): boolean {
  return expected !== undefined && typeof served === 'string' && served !== expected;
}

function otherChain({ client }: Member, chain: string, name: unknown, served: unknown): DaemonStatus['fault'] {
  const message = `The daemon at ${client.address} serves ${String(name)} (${String(served)}), which is not ${chain}.`;
  return { code: 'wrong_chain', message };
}

function isHiccup(error: unknown): boolean {
  return [DaemonUnreachable, DaemonGarbage, DaemonHttpError].some((kind) => error instanceof kind);
}
