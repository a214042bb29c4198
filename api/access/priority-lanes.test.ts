import { describe, expect, it } from 'vitest';
import { createPriorityLanes, type PriorityLane, QueueFull } from './priority-lanes.ts';

const options = { atOnce: 3, reserved: 1, mostWaiting: 5 };

function world() {
  const lanes = createPriorityLanes(options);
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (name: string, lane: PriorityLane, waitMs = 60_000) =>
    lanes.run(lane, waitMs, async () => {
      began.push(name);
      await new Promise<void>((resolve) => ends.set(name, resolve));
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { lanes, began, start, end };
}

describe('lanes', () => {
  it('a flood of the standard lane leaves a place, and priority goes first', async () => {
    const { began, start, end } = world();
    for (const name of ['s1', 's2', 's3', 's4']) void start(name, 'standard');
    void start('p1', 'priority');
    await new Promise(setImmediate);
    expect(began).toEqual(['s1', 's2', 'p1']);
    void start('p2', 'priority');
    await end('s1');
    expect(began.at(-1)).toBe('p2');
    await end('p1');
    expect(began.at(-1)).toBe('s3');
    await end('p2'); // the last place is not for the standard lane
    expect(began).toEqual(['s1', 's2', 'p1', 'p2', 's3']);
    await end('s2');
    expect(began.at(-1)).toBe('s4');
  });

  it('whoever would wait too long, or behind too many, is refused; the other lane is not', async () => {
    const { start, began } = world();
    for (let n = 0; n < 2 + 5; n += 1) void start(`s${n}`, 'standard').catch(() => undefined);
    await expect(start('one too many', 'standard')).rejects.toThrow(QueueFull);
    void start('p', 'priority');
    await new Promise(setImmediate);
    expect(began).toContain('p');
    await expect(start('late', 'priority', 5)).rejects.toThrow(QueueFull);
  });

  it('a failure gives its place on', async () => {
    const { lanes } = world();
    for (let n = 0; n < 10; n += 1) {
      await expect(lanes.run('standard', 1, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    }
  });
});
