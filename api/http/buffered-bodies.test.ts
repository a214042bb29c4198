/** Bodies in memory are bounded in total and by network; the body that has held most for longest is evicted first. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BodyReservation, type BufferedBodiesOptions, createBufferedBodies } from './buffered-bodies.ts';

function bodiesOn(options: Omit<BufferedBodiesOptions, 'now'> = {}) {
  let time = 0;
  const held = createBufferedBodies({ most: 1_000, mostOfNetwork: 400, mostKept: 600, ...options, now: () => time });
  return {
    wait(ms: number) {
      time += ms;
    },
    begin(network: string) {
      let evicted = false;
      const holding = held.hold(network, {
        evict() {
          evicted = true;
        },
      });
      return {
        grow: (bytes: number) => holding.grow(bytes),
        keep: () => holding.keep(),
        release: () => holding.release(),
        network,
        isEvicted: () => evicted,
      };
    },
  };
}

describe('a network over its bound', () => {
  it('loses bodies of its own, and no other network does', () => {
    const { begin, wait } = bodiesOn();
    const other = begin('b');
    other.grow(390);
    wait(1_000);
    const first = begin('a');
    first.grow(200);
    wait(10);
    const second = begin('a');
    second.grow(200);
    second.grow(201);
    expect([other, first, second].map((body) => body.isEvicted())).toEqual([false, true, false]);
  });

  it('is still counted after many other networks have come and gone', () => {
    const { begin, wait } = bodiesOn();
    const first = begin('a');
    first.grow(300);
    for (let n = 0; n < 3_000; n++) {
      const other = begin(`other ${n}`);
      other.grow(1);
      other.release();
    }
    wait(10);
    const second = begin('a');
    second.grow(101);
    expect([first, second].map((body) => body.isEvicted())).toEqual([true, false]);
  });

  it('loses its only body', () => {
    const { begin } = bodiesOn();
    const body = begin('a');
    body.grow(401);
    expect(body.isEvicted()).toBe(true);
  });
});

describe('the total over its bound', () => {
  it('evicts the body that has held most for longest, not the newcomer', () => {
    const { begin, wait } = bodiesOn();
    const hoarders = ['a', 'b', 'c'].map((network) => begin(network));
    hoarders[0]?.grow(330);
    wait(5_000);
    for (const hoarder of hoarders) hoarder.grow(330);
    wait(100);
    const newcomer = begin('d');
    newcomer.grow(20);
    expect([...hoarders, newcomer].map((body) => body.isEvicted())).toEqual([true, false, false, false]);
  });

  it('counts all bodies of a network: many small ones weigh as much as a large one', () => {
    const { begin, wait } = bodiesOn({ mostOfNetwork: 1_000 });
    const many = Array.from({ length: 90 }, () => {
      const body = begin('a');
      body.grow(10);
      return body;
    });
    const large = begin('b');
    large.grow(90);
    wait(1_000);
    begin('c').grow(50);
    expect(large.isEvicted()).toBe(false);
    expect(many.filter((body) => body.isEvicted()).length).toBeGreaterThan(0);
  });

  it('keeps whole bodies, and refuses large ones when there is no room to work on them', () => {
    const kilobyte = 1024;
    const { begin, wait } = bodiesOn({
      most: 1_000 * kilobyte,
      mostOfNetwork: 400 * kilobyte,
      mostKept: 600 * kilobyte,
    });
    const whole = ['a', 'b', 'c'].map((network) => {
      const body = begin(network);
      body.grow(300 * kilobyte);
      return body.keep();
    });
    expect(whole).toEqual([true, true, false]);
    wait(60_000);
    const small = begin('d');
    small.grow(10 * kilobyte);
    expect([small.isEvicted(), small.keep()]).toEqual([false, true]);
  });
});

it('random bodies at any pace: the bounds always hold, and a small body that is quickly whole gets through', () => {
  const act = fc.record({
    network: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
    bytes: fc.integer({ min: 1, max: 500 }),
    wait: fc.constantFrom(0, 0, 1, 20, 1_000),
    what: fc.constantFrom('begin', 'grow', 'grow', 'grow', 'keep', 'release'),
  });
  fc.assert(
    fc.property(fc.array(act, { minLength: 20, maxLength: 150 }), (acts) => {
      const { begin, wait } = bodiesOn();
      const open: {
        readonly holding: BodyReservation & { isEvicted(): boolean; network: string };
        bytes: number;
        kept: boolean;
      }[] = [];
      for (const { network, bytes, what, wait: ms } of acts) {
        wait(ms);
        const mine = open.findIndex(({ holding }) => holding.network === network);
        const body = open[mine];
        if (what === 'begin' || !body) open.push({ holding: begin(network), bytes: 0, kept: false });
        else if (what === 'grow' && !body.kept) {
          body.bytes += bytes;
          body.holding.grow(body.bytes);
        } else if (what === 'keep') body.kept = body.holding.keep();
        else if (what === 'release') {
          body.holding.release();
          open.splice(mine, 1);
        }
        for (let at = open.length - 1; at >= 0; at--) if (open[at]?.holding.isEvicted()) open.splice(at, 1);
        const sum = (of: typeof open) => of.reduce((total, each) => total + each.bytes, 0);
        expect(sum(open)).toBeLessThanOrEqual(1_000);
        for (const name of 'abcdefgh') {
          expect(sum(open.filter(({ holding }) => holding.network === name))).toBeLessThanOrEqual(400);
        }
        // Another network's small body that arrives at once. Bodies that are whole already cannot make room for it.
        const stranger = begin('stranger');
        stranger.grow(5);
        const keptBytes = sum(open.filter(({ kept }) => kept));
        if (keptBytes + 5 <= 1_000 && open.some(({ kept, bytes: held }) => !kept && held >= 5))
          expect(stranger.isEvicted()).toBe(false);
        stranger.release();
        for (let at = open.length - 1; at >= 0; at--) if (open[at]?.holding.isEvicted()) open.splice(at, 1);
      }
    }),
    { numRuns: 300 },
  );
});

describe('at the bound', () => {
  /** Counts the evicted bodies while more and more arrive, and the searches that evicted them. */
  function crowd(networks: number, bodies: number, bytes: number, most: number) {
    const { begin, wait } = bodiesOn({ most, mostOfNetwork: most, mostKept: most });
    let [evicted, rounds] = [0, 0];
    const open: ReturnType<typeof begin>[] = [];
    for (let n = 0; n < bodies; n++) {
      wait(1);
      const body = begin(`network ${n % networks}`);
      body.grow(bytes);
      open.push(body);
      const before = evicted;
      evicted = open.filter((each) => each.isEvicted()).length;
      if (evicted > before) rounds += 1;
    }
    return { evicted, rounds };
  }

  it('one search makes room for many bodies, so not each new body costs a search', () => {
    const settings = fc.record({
      networks: fc.integer({ min: 1, max: 40 }),
      bytes: fc.integer({ min: 1, max: 20 }),
    });
    fc.assert(
      fc.property(settings, ({ networks, bytes }) => {
        const { evicted, rounds } = crowd(networks, 600, bytes, 200 * bytes);
        expect(evicted).toBeGreaterThanOrEqual(400);
        // Each search evicts a tenth of 200 bodies, and the body over the bound.
        expect(rounds).toBeLessThanOrEqual(Math.ceil(400 / 20));
      }),
      { numRuns: 30 },
    );
  });

  it('a search evicts at most a tenth of the bound and one body, leaves half of the room in use, and spares the growing body', () => {
    const sizes = fc.record({
      whole: fc.integer({ min: 0, max: 900 }),
      each: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 60 }),
    });
    fc.assert(
      fc.property(sizes, ({ whole, each }) => {
        const { begin, wait } = bodiesOn({ mostOfNetwork: 1_000, mostKept: 1_000 });
        const kept = begin('whole');
        kept.grow(whole);
        expect(kept.keep()).toBe(true);
        const open: { readonly body: ReturnType<typeof begin>; readonly bytes: number }[] = [];
        for (const [n, bytes] of each.entries()) {
          wait(10);
          const body = begin(`network ${n % 7}`);
          const before = open.filter((other) => !other.body.isEvicted());
          body.grow(bytes);
          open.push({ body, bytes });
          const gone = before.filter((other) => other.body.isEvicted());
          const sum = (of: typeof open) => of.reduce((total, other) => total + other.bytes, 0);
          if (gone.length === 0) continue;
          const over = whole + sum(before) + bytes - 1_000;
          const largest = Math.max(...gone.map((other) => other.bytes));
          expect(sum(gone)).toBeLessThan(over + Math.min(100, (1_000 - whole) / 2) + largest);
          if (sum(before) > over) expect(body.isEvicted()).toBe(false);
        }
        expect(kept.isEvicted()).toBe(false);
      }),
    );
  });
});
