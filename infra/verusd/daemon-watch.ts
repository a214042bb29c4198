/**
 * How each daemon of a chain stands: asked once a second with one small call, getinfo, on a connection of its own, so that no long
 * call of others makes it look dead.
 */
import type { DaemonStatus } from '../../schemas/daemon-status.ts';
import { describeError } from '../../schemas/errors.ts';
import type { Logger } from '../logger.ts';
import { metrics } from '../metrics.ts';
import { pause } from '../repeat-until.ts';
import { DaemonGarbage, DaemonHttpError, DaemonTimeout, DaemonUnreachable } from './daemon-errors.ts';
import { createVerusdClient, type VerusdClient } from './verusd-client.ts';

export interface DaemonWatch {
  /** In the order of the configuration; well until the first answer, or the lack of one, says otherwise. */
  statuses(): readonly DaemonStatus[];
  close(): Promise<void>;
}

export interface DaemonWatchOptions {
  readonly chain: string;
  readonly rpc: readonly string[];
  /** i-address of the chain that each must serve; any will do when it is not given. */
  readonly chainId?: string;
  readonly logger: Logger;
  /** Hears of every look; `looked` is the index of the one that was looked at. */
  readonly report: (statuses: readonly DaemonStatus[], looked: number) => void;
  readonly timing?: WatchTiming;
}

/** Milliseconds. */
export interface WatchTiming {
  /** From the beginning of one look to that of the next. */
  readonly everyMs: number;
  /** A daemon that takes longer counts as hung. */
  readonly timeoutMs: number;
}

/** A daemon that hangs for three seconds is noticed, and one that hangs for good within three. */
export const WATCH_TIMING: WatchTiming = { everyMs: 1000, timeoutMs: 2000 };

/** Blocks arrive at several nodes within seconds of each other. */
const MAX_BLOCKS_BEHIND = 2;
const ATTEMPTS = 2;
/** A time limit that is noticed this much too late is this process' own fault: it was too busy to take the reply. */
const LATE_MS = 250;

interface Member {
  readonly place: number;
  readonly client: VerusdClient;
  height: number | null;
  peersHeight: number | null;
  fault: DaemonStatus['fault'];
  /** As last logged. */
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

  /** A reply that was lost, or that this process did not take in time, says nothing of the daemon: it is asked for once more. */
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
      // By its place in the configuration: /metrics may be public, its address is not.
      metrics.daemonHealthy.set({ chain, daemon: String(index + 1) }, fault === null ? 1 : 0);
    }
    const fault = statuses[member.place - 1]?.fault ?? null;
    if ((fault?.code ?? null) !== member.known) {
      member.known = fault?.code ?? null;
      const about = { chain, daemon: member.place, code: fault?.code };
      // Where it is the only one, the stage that follows it warns of all else that keeps it.
      const level = members.length > 1 || fault?.code === 'daemon_behind_peers' ? 'warn' : 'info';
      if (fault) logger[level](about, `daemon ${member.place} of ${chain}: ${fault.message}`);
      else logger.info(about, `daemon ${member.place} of ${chain} is healthy again`);
    }
    report(statuses, member.place - 1);
  }

  /** Each on its own, so that a hanging daemon does not delay the others. */
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

/** Its peers are the nodes that it is connected to, and the other daemons of the chain that are well. */
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

/** Daemons that do not name their chain are trusted to serve the configured one, as in the tailer. */
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
