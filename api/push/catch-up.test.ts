import { describe, expect, it } from 'vitest';
import { createPace } from '../../infra/pace.ts';
import { createCatchUp, type Served } from './catch-up.ts';

/** A client that needs `turns` turns of `ms` each. */
function client(network: string, turns: number, ms: number, onServed: (network: string) => void): Served {
  let left = turns;
  return {
    network,
    async serve() {
      const end = performance.now() + ms;
      while (performance.now() < end);
      onServed(network);
      left -= 1;
      return left > 0;
    },
  };
}

const until = async (isSo: () => boolean) => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('clients that catch up', () => {
  it('take turns by network: a single client does not wait for fifty clients of another network', async () => {
    const turns: string[] = [];
    const catchUp = createCatchUp(4, createPace({ sliceMs: 1, restMs: 1 }));
    for (let count = 0; count < 50; count += 1) catchUp.request(client('crowd', 4, 1, (name) => turns.push(name)));
    catchUp.request(client('single', 20, 1, (name) => turns.push(name)));
    await until(() => turns.length === 220);
    const last = turns.lastIndexOf('single');
    // Four are served at a time: three of the crowd and the single client, whose next turn comes after one more of the crowd.
    expect(turns.slice(0, last).filter((name) => name === 'crowd').length).toBeLessThan(4 * 20 + 10);
  });

  it('are never served twice at a time, and are served again if requested meanwhile', async () => {
    let under = 0;
    let most = 0;
    let served = 0;
    const slow: Served = {
      network: 'a',
      async serve() {
        under += 1;
        most = Math.max(most, under);
        await new Promise((resolve) => setTimeout(resolve, 2));
        under -= 1;
        served += 1;
        return false;
      },
    };
    const catchUp = createCatchUp(4, createPace({ sliceMs: 5, restMs: 1 }));
    catchUp.request(slow);
    catchUp.request(slow);
    catchUp.request(slow);
    await until(() => served === 2);
    await new Promise((resolve) => setTimeout(resolve, 10));
    expect([served, most]).toEqual([2, 1]);
  });

  it('that wait for the log leave the other clients their turns', async () => {
    const turns: string[] = [];
    const catchUp = createCatchUp(4, createPace({ sliceMs: 5, restMs: 1 }));
    for (let count = 0; count < 3; count += 1) {
      catchUp.request({ network: `waits ${count}`, serve: () => new Promise<boolean>(() => undefined) });
    }
    catchUp.request(client('other', 5, 0, (name) => turns.push(name)));
    await until(() => turns.length === 5);
  });
});

describe('the pace', () => {
  it('lets the event loop turn between pieces of work, however many workers there are', async () => {
    const pace = createPace({ sliceMs: 2, restMs: 1 });
    const done = [0, 0, 0, 0];
    let ended = 0;
    const work = async (who: number) => {
      for (let piece = 0; piece < 200; piece += 1) {
        if (pace.isSpent()) await pace.rest();
        const end = performance.now() + 0.2;
        while (performance.now() < end);
        done[who] = (done[who] ?? 0) + 1;
      }
      ended += 1;
    };
    let turns = 0;
    const seen: number[][] = [];
    const count = () => {
      turns += 1;
      seen.push([...done]);
      if (ended < 4) setImmediate(count);
    };
    setImmediate(count);
    await Promise.all(done.map((_, who) => work(who)));
    // 160 ms of work in slices of 2 ms.
    expect(turns).toBeGreaterThan(20);
    const middle = seen[seen.length >> 1] ?? [];
    expect(Math.max(...middle) - Math.min(...middle)).toBeLessThan(100);
  });
});
