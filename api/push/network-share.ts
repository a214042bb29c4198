/** Allowance shared by all connections of a network: work caused by their messages, and memory held for them. */
import { allocationOf } from '../access/visitor.ts';
import { ApiError } from '../http/api-error.ts';
import {
  type Holdings,
  MAX_OF_ALL,
  MAX_OF_ALLOCATION,
  MAX_OF_NETWORK,
  MAX_WAITING_BYTES,
  messageWork,
  WORK,
} from './limits.ts';

/** One connection's part in its network's share. */
export interface NetworkShare {
  readonly network: string;
  /** Reserves work units; returns the milliseconds to wait before the work. @throws ApiError rate_limited if too much waits already */
  order(work: number): number;
  /** Changes the memory held for subscriptions. @throws ApiError too_many_streams, unavailable; then nothing has changed */
  hold(change: Omit<Holdings, 'connections'>): void;
  /** Adds waiting bytes; a negative number removes them. @throws ApiError rate_limited, unavailable; then nothing has changed */
  wait(bytes: number): void;
  /** Gives back everything; further calls do nothing. */
  close(): void;
}

export interface NetworkShares {
  /** @throws ApiError too_many_streams, unavailable */
  open(network: string): NetworkShare;
  /** Like NetworkShare.order(), for work without a connection. */
  order(network: string, work: number): number;
}

interface Account {
  /** The IPv6 /48 that contains the network, if any. */
  readonly allocation: string | null;
  /** Work units that were reserved and are not yet worked off at time `at`. */
  ordered: number;
  at: number;
  held: Holdings;
  /** Bytes of its waiting messages. */
  waiting: number;
}

const NOTHING: Holdings = { connections: 0, subscriptions: 0, bytes: 0 };
const WORK_PER_MS = WORK.perMinute / 60_000;
const NAMES: Readonly<Record<keyof Holdings, string>> = {
  connections: 'streams',
  subscriptions: 'subscriptions',
  bytes: 'bytes of filters',
};
/** How long an account without connections is remembered: until all that it may have ordered is worked off. */
const REMEMBERED_MS = (WORK.atOnce + WORK.waiting) / WORK_PER_MS;

/** @param now milliseconds of a clock that never goes back */
export function createNetworkShares(now: () => number = () => performance.now()): NetworkShares {
  const accounts = new Map<string, Account>();
  /** Holdings by /48; only those with connections. */
  const allocations = new Map<string, Holdings>();
  let all = NOTHING;
  let waiting = 0;
  let sweptAt = now();

  function accountOf(network: string): Account {
    sweep();
    let account = accounts.get(network);
    if (!account) {
      account = { allocation: allocationOf(network), ordered: 0, at: now(), held: NOTHING, waiting: 0 };
      accounts.set(network, account);
    }
    return account;
  }

  function sweep(): void {
    if (now() - sweptAt < REMEMBERED_MS) return;
    sweptAt = now();
    for (const [network, { at, held }] of accounts) {
      if (held.connections === 0 && sweptAt - at >= REMEMBERED_MS) accounts.delete(network);
    }
  }

  function change(account: Account, by: Holdings): void {
    const { allocation } = account;
    const ofNetwork = sum(account.held, by);
    const ofAllocation = allocation === null ? null : sum(allocations.get(allocation) ?? NOTHING, by);
    const ofAll = sum(all, by);
    refuseAbove(MAX_OF_NETWORK, by, ofNetwork, (most) => tooMany(`a network may have ${most} at a time: close some`));
    if (ofAllocation)
      refuseAbove(MAX_OF_ALLOCATION, by, ofAllocation, (most) => tooMany(`an IPv6 /48 may have ${most} at a time`));
    refuseAbove(MAX_OF_ALL, by, ofAll, (most) => unavailable(`the service has ${most}, as many as it takes`));
    account.held = ofNetwork;
    if (allocation !== null && ofAllocation) {
      if (ofAllocation.connections > 0) allocations.set(allocation, ofAllocation);
      else allocations.delete(allocation);
    }
    all = ofAll;
  }

  function order(account: Account, work: number): number {
    const ordered = Math.max(0, account.ordered - (now() - account.at) * WORK_PER_MS);
    account.at = now();
    account.ordered = ordered;
    const late = ordered + work - WORK.atOnce;
    if (late > WORK.waiting) throw tooMuchWork((late - WORK.waiting) / WORK_PER_MS);
    account.ordered = ordered + work;
    return Math.max(0, Math.ceil(late / WORK_PER_MS));
  }

  function wait(account: Account, bytes: number): void {
    const ofNetwork = account.waiting + bytes;
    const { ofNetwork: most, ofAll, ofNetworkAtLeast } = MAX_WAITING_BYTES;
    if (bytes > 0 && ofNetwork > most) {
      throw rateLimited(`${most} bytes of messages of a network may wait`, messageWork(ofNetwork - most) / WORK_PER_MS);
    }
    if (bytes > 0 && waiting + bytes > ofAll && ofNetwork > ofNetworkAtLeast) {
      throw unavailable(`${ofAll} bytes of messages wait, as many as the service takes`);
    }
    account.waiting = ofNetwork;
    waiting += bytes;
  }

  return {
    order: (network, work) => order(accountOf(network), work),
    open(network) {
      const account = accountOf(network);
      change(account, { ...NOTHING, connections: 1 });
      let held: Holdings = { ...NOTHING, connections: 1 };
      let waits = 0;
      return {
        network,
        order: (work) => order(account, work),
        hold(by) {
          if (held.connections === 0) return;
          const added = { connections: 0, ...by };
          change(account, added);
          held = sum(held, added);
        },
        wait(bytes) {
          if (held.connections === 0) return;
          wait(account, bytes);
          waits += bytes;
        },
        close() {
          change(account, sum(NOTHING, held, -1));
          wait(account, -waits);
          held = NOTHING;
          waits = 0;
        },
      };
    },
  };
}

function sum(a: Holdings, b: Holdings, sign = 1): Holdings {
  return {
    connections: a.connections + sign * b.connections,
    subscriptions: a.subscriptions + sign * b.subscriptions,
    bytes: a.bytes + sign * b.bytes,
  };
}

/** Refuses only increases: giving back always works. */
function refuseAbove(most: Holdings, by: Holdings, held: Holdings, error: (most: string) => ApiError): void {
  for (const name of Object.keys(most) as (keyof Holdings)[]) {
    if (by[name] > 0 && held[name] > most[name]) throw error(`${most[name]} ${NAMES[name]}`);
  }
}

function tooMany(detail: string): ApiError {
  return new ApiError('too_many_streams', detail, { headers: { 'Retry-After': '60' } });
}

function unavailable(detail: string): ApiError {
  return new ApiError('unavailable', detail, { headers: { 'Retry-After': '60' } });
}

function tooMuchWork(retryMs: number): ApiError {
  const allowed = `the messages of a network may cause ${WORK.perMinute} units of work a minute`;
  return rateLimited(`${allowed} (a message 1, each KiB of it 1, each name of a filter 1, each label 1)`, retryMs);
}

function rateLimited(allowed: string, retryMs: number): ApiError {
  const retryAfter = Math.ceil(retryMs / 1000);
  return new ApiError('rate_limited', `${allowed}: ask again in ${retryAfter} s`, {
    members: { retryAfter },
    headers: { 'Retry-After': String(retryAfter) },
  });
}
