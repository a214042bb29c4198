import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  MAX_FILTER_WORK,
  MAX_MESSAGE_BYTES,
  MAX_OF_ALL,
  MAX_OF_ALLOCATION,
  MAX_OF_NETWORK,
  MAX_WAITING_BYTES,
  WORK,
} from './limits.ts';
import { createNetworkShares, type NetworkShare } from './network-share.ts';

const refusalOf = (work: () => unknown): string | null => {
  try {
    work();
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe('the share of a network', () => {
  it('allows at most its work in any minute, in order of arrival', () => {
    const order = fc.record({ after: fc.nat(5_000), work: fc.integer({ min: 1, max: MAX_FILTER_WORK }) });
    fc.assert(
      fc.property(fc.array(order, { minLength: 1, maxLength: 100 }), (orders) => {
        let now = 0;
        const share = createNetworkShares(() => now).open('a');
        const done: { at: number; work: number }[] = [];
        for (const { after, work } of orders) {
          now += after;
          if (refusalOf(() => done.push({ at: now + share.order(work), work })) !== null) continue;
          expect((done.at(-1)?.at ?? 0) - now).toBeLessThanOrEqual((WORK.waiting / WORK.perMinute) * 60_000 + 1);
        }
        expect(done.map(({ at }) => at)).toEqual(done.map(({ at }) => at).toSorted((a, b) => a - b));
        for (const { at: start } of done) {
          const inMinute = done.filter(({ at }) => at >= start && at < start + 60_000);
          const sum = inMinute.reduce((total, { work }) => total + work, 0);
          expect(sum).toBeLessThanOrEqual(WORK.perMinute + WORK.atOnce + MAX_FILTER_WORK);
        }
      }),
    );
  });

  it('refuses further work with a message that contains the allowance, and recovers with time', () => {
    let now = 0;
    const shares = createNetworkShares(() => now);
    const share = shares.open('a');
    while (refusalOf(() => share.order(1_000)) === null);
    expect(() => share.order(1_000)).toThrow(`${WORK.perMinute} units of work a minute`);
    expect(shares.open('b').order(1_000)).toBe(0);
    now += 3 * 60_000;
    expect(share.order(1_000)).toBe(0);
  });

  it('stays within its bounds, whatever is opened, changed and closed, and holds nothing in the end', () => {
    const change = fc.record({
      network: fc.nat(3),
      do: fc.constantFrom('open', 'hold', 'close'),
      subscriptions: fc.integer({ min: -50, max: 600 }),
      bytes: fc.integer({ min: -1_000_000, max: 3_000_000 }),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 100 }), (changes) => {
        const shares = createNetworkShares(() => 0);
        const open: { network: number; share: NetworkShare; subscriptions: number; bytes: number }[] = [];
        for (const { network, do: what, subscriptions, bytes } of changes) {
          if (what === 'open') open.push({ network, share: shares.open(String(network)), subscriptions: 0, bytes: 0 });
          const mine = open.find((one) => one.network === network);
          if (!mine || what === 'open') continue;
          if (what === 'close') {
            mine.share.close();
            mine.share.close();
            open.splice(open.indexOf(mine), 1);
            continue;
          }
          const added = {
            subscriptions: Math.max(subscriptions, -mine.subscriptions),
            bytes: Math.max(bytes, -mine.bytes),
          };
          if (refusalOf(() => mine.share.hold(added)) === null) {
            mine.subscriptions += added.subscriptions;
            mine.bytes += added.bytes;
          }
          const ofNetwork = open.filter((one) => one.network === network);
          const sum = (name: 'subscriptions' | 'bytes') => ofNetwork.reduce((total, one) => total + one[name], 0);
          expect(sum('subscriptions')).toBeLessThanOrEqual(MAX_OF_NETWORK.subscriptions);
          expect(sum('bytes')).toBeLessThanOrEqual(MAX_OF_NETWORK.bytes);
        }
        for (const { share } of open) share.close();
        const { subscriptions, bytes } = MAX_OF_NETWORK;
        for (const network of ['0', '1', '2', '3'])
          expect(refusalOf(() => shares.open(network).hold({ subscriptions, bytes }))).toBeNull();
      }),
    );
  });

  it('bounds the streams of a network and of all networks; closing one makes room', () => {
    const shares = createNetworkShares();
    const opened = Array.from({ length: MAX_OF_NETWORK.connections }, () => shares.open('a'));
    expect(() => shares.open('a')).toThrow('1000 streams');
    opened[0]?.close();
    expect(refusalOf(() => shares.open('a'))).toBeNull();
    for (let left = MAX_OF_ALL.connections - opened.length, n = 0; left > 0; left -= 1, n += 1)
      shares.open(`${n >> 9}`);
    expect(refusalOf(() => shares.open('another'))).toBe('unavailable');
  });

  it('is bounded over the networks of an IPv6 /48, and does not affect others', () => {
    const shares = createNetworkShares();
    const ofAllocation = (network: number, allocation = '20010db8aaaa') =>
      `${allocation}${network.toString(16).padStart(4, '0')}/64`;
    const { subscriptions, bytes } = MAX_OF_NETWORK;
    const opened = [0, 1, 2, 3].map((network) => shares.open(ofAllocation(network)));
    for (const share of opened) share.hold({ subscriptions, bytes });
    const fifth = shares.open(ofAllocation(4));
    expect(refusalOf(() => fifth.hold({ subscriptions: 1, bytes: 0 }))).toBe('too_many_streams');
    expect(refusalOf(() => fifth.hold({ subscriptions: 0, bytes: 1 }))).toBe('too_many_streams');
    while (refusalOf(() => opened.push(shares.open(ofAllocation(opened.length)))) === null);
    expect(opened.length + 1).toBe(MAX_OF_ALLOCATION.connections);
    expect(() => shares.open(ofAllocation(9_999))).toThrow('an IPv6 /48 may have 4000 streams');
    const neighbour = shares.open(ofAllocation(0, '20010db8bbbb'));
    expect(refusalOf(() => neighbour.hold({ subscriptions, bytes }))).toBeNull();
    for (const share of opened) share.close();
    expect(refusalOf(() => fifth.hold({ subscriptions, bytes }))).toBeNull();
  });

  it('bounds waiting messages over all networks, and leaves each network room for a message', () => {
    const step = fc.record({
      network: fc.nat(40),
      bytes: fc.integer({ min: 1, max: MAX_MESSAGE_BYTES }),
      close: fc.boolean(),
    });
    const { ofNetwork, ofAll, ofNetworkAtLeast } = MAX_WAITING_BYTES;
    fc.assert(
      fc.property(fc.array(step, { maxLength: 100 }), fc.nat(20), (steps, greedy) => {
        const shares = createNetworkShares(() => 0);
        // As many networks as fill the memory, and more: each of them takes all that it gets.
        for (let n = 0; n < greedy; n++) {
          const share = shares.open(`greedy ${n}`);
          while (refusalOf(() => share.wait(MAX_MESSAGE_BYTES)) === null);
        }
        const waiting = new Map<number, { share: NetworkShare; bytes: number }>();
        for (const { network, bytes, close } of steps) {
          const mine = waiting.get(network) ?? { share: shares.open(String(network)), bytes: 0 };
          const refusal = refusalOf(() => mine.share.wait(bytes));
          if (mine.bytes + bytes <= ofNetworkAtLeast) expect(refusal).toBeNull();
          if (mine.bytes + bytes > ofNetwork) expect(refusal).toBe('rate_limited');
          if (refusal === null) mine.bytes += bytes;
          expect(mine.bytes).toBeLessThanOrEqual(ofNetwork);
          if (close) mine.share.close();
          if (close) waiting.delete(network);
          else waiting.set(network, mine);
        }
        for (const { share } of waiting.values()) share.close();
        expect(refusalOf(() => shares.open('late').wait(MAX_MESSAGE_BYTES))).toBeNull();
      }),
    );
    const shares = createNetworkShares(() => 0);
    let taken = 0;
    for (let n = 0; n < 20; n++) {
      const share = shares.open(String(n));
      while (refusalOf(() => share.wait(MAX_MESSAGE_BYTES)) === null) taken += MAX_MESSAGE_BYTES;
    }
    expect(taken).toBeLessThanOrEqual(ofAll + 20 * ofNetworkAtLeast);
    expect(taken).toBeGreaterThanOrEqual(ofAll);
  });
});
