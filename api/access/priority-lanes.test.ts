import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPriorityLanes, type PriorityLane, type PriorityLanesOptions, QueueFull } from './priority-lanes.ts';

const OPTIONS = { atOnce: 4, reserved: 1, mostWaiting: 8 };

function world(options: PriorityLanesOptions = OPTIONS) {
  const lanes = createPriorityLanes(options);
  const began: string[] = [];
  const refused: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (name: string, payer: string, lane: PriorityLane = 'standard', waitMs = 60_000) =>
    lanes.run({ lane, payer }, waitMs, async () => {
      began.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
  /** Does not wait for the work to end. */
  const begin = (...asked: Parameters<typeof start>) => void start(...asked).catch(() => refused.push(asked[0]));
  const end = async (name: string) => {
    ends.get(name)?.();
    await settled();
  };
  return { lanes, began, refused, start, begin, end };
}

const settled = () => new Promise(setImmediate);

describe('lanes', () => {
  it('a flood in the standard lane leaves a place free, and the priority lane is served first', async () => {
    const { began, begin, end } = world();
    for (const payer of ['a', 'b', 'c', 'd']) begin(`s ${payer}`, payer);
    for (const payer of ['e', 'f', 'g']) begin(`p ${payer}`, payer, 'priority');
    await settled();
    expect(began).toEqual(['s a', 's b', 's c', 'p e']);
    await end('s a');
    expect(began.at(-1)).toBe('p f');
    await end('p e');
    expect(began.at(-1)).toBe('p g');
    await end('p f');
    expect(began.at(-1)).toBe('s d');
    await end('p g'); // the last place is not for the standard lane
    begin('s e', 'e');
    await settled();
    expect(began).toHaveLength(7);
  });

  it('a caller that would wait too long or behind too many is refused; other callers and the other lane are not', async () => {
    const { start, begin, began, refused } = world();
    const runs = 2;
    const waits = OPTIONS.mostWaiting / 2;
    for (let n = 0; n < runs + waits; n += 1) begin(`s${n}`, 'a');
    await expect(start('one too many', 'a')).rejects.toThrow(QueueFull);
    begin('of another', 'b');
    begin('p', 'c', 'priority');
    await settled();
    expect(began).toEqual(['s0', 's1', 'of another', 'p']);
    expect(refused).toEqual([]);
    await expect(start('late', 'd', 'standard', 5)).rejects.toThrow(QueueFull);
  });

  it('work that fails frees its place', async () => {
    const { lanes } = world();
    const owner = { lane: 'standard', payer: 'a' } as const;
    for (let n = 0; n < 10; n += 1) {
      await expect(lanes.run(owner, 1, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    }
  });
});

describe('callers of one lane', () => {
  it('a single caller gets half of the places, and the next caller finds one free, whatever waits', async () => {
    const { began, begin } = world({ atOnce: 8, mostWaiting: 1000 });
    for (let n = 0; n < 100; n += 1) begin(`a${n}`, 'a');
    begin('b', 'b');
    begin('c', 'c');
    await settled();
    expect(began).toEqual(['a0', 'a1', 'a2', 'a3', 'b', 'c']);
  });

  it('take turns', async () => {
    const { began, begin, end } = world({ atOnce: 1, mostWaiting: 1000 });
    begin('first', 'z');
    for (const name of ['a1', 'a2', 'a3']) begin(name, 'a');
    for (const name of ['b1', 'b2']) begin(name, 'b');
    begin('c1', 'c');
    await settled();
    for (let n = 0; n < 6; n += 1) await end(began.at(-1) ?? '');
    expect(began).toEqual(['first', 'a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('work that several share belongs to the caller with the fewest works', async () => {
    const { lanes, begin } = world();
    for (let n = 0; n < 3; n += 1) begin(`a${n}`, 'a');
    begin('b', 'b');
    const [a, b, c] = ['a', 'b', 'c'].map((payer) => ({ lane: 'standard' as const, payer }));
    if (!a || !b || !c) throw new Error('three owners');
    expect([lanes.quickest([a, b]), lanes.quickest([b, a]), lanes.quickest([a, b, c])]).toEqual([b, b, c]);
  });

  it('never exceed the places, and leave no place free that a waiting caller may have, whatever they do', async () => {
    const payer = fc.constantFrom('a', 'b', 'c', 'd');
    const arrival = fc.record({ payer, lane: fc.constantFrom<PriorityLane>('standard', 'priority') });
    const step = fc.oneof(arrival, fc.record({ ends: fc.nat(100) }));
    const sizes = fc.record({
      atOnce: fc.integer({ min: 1, max: 9 }),
      mostWaiting: fc.integer({ min: 1, max: 12 }),
      leavesRoom: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(sizes, fc.array(step, { maxLength: 80 }), async ({ atOnce, mostWaiting, leavesRoom }, steps) => {
        const reserved = Math.floor(atOnce / 4);
        const { began, refused, begin, end } = world({ atOnce, reserved, mostWaiting, leavesRoom });
        const arrived: { name: string; payer: string; lane: PriorityLane }[] = [];
        const ended = new Set<string>();
        const count = (works: readonly { payer: string; lane: PriorityLane }[], lane: PriorityLane, of?: string) =>
          works.filter((work) => work.lane === lane && (of === undefined || work.payer === of)).length;
        for (const at of steps) {
          if ('payer' in at) {
            const work = { name: `${arrived.length}`, ...at };
            arrived.push(work);
            begin(work.name, at.payer, at.lane);
            await settled();
          } else {
            const open = began.filter((name) => !ended.has(name));
            const name = open[at.ends % Math.max(1, open.length)];
            if (name === undefined) continue;
            ended.add(name);
            await end(name);
          }
          const running = arrived.filter(({ name }) => began.includes(name) && !ended.has(name));
          const waiting = arrived.filter(({ name }) => !began.includes(name) && !refused.includes(name));
          const standard = count(running, 'standard');
          expect(running.length).toBeLessThanOrEqual(atOnce);
          expect(standard).toBeLessThanOrEqual(atOnce - reserved);
          const free = atOnce - running.length;
          for (const lane of ['standard', 'priority'] as const) {
            const left = lane === 'standard' ? atOnce - reserved - standard : atOnce - count(running, 'priority');
            expect(count(waiting, lane)).toBeLessThanOrEqual(mostWaiting);
            for (const { payer } of waiting.filter((work) => work.lane === lane)) {
              if (free > 0) expect(leavesRoom ? count(running, lane, payer) : 0).toBeGreaterThanOrEqual(left);
            }
          }
        }
      }),
      { numRuns: 200 },
    );
  });
});
