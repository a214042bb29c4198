/** Prepared answers in demand are rebuilt when the state moves, without delaying requests. */
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, describe, expect, it } from 'vitest';
import { SERVICE, type WorkOwner } from '../access/priority-lanes.ts';
import type { ApiContext } from '../api-context.ts';
import { object } from '../schema/json-schema.ts';
import { freshAnswer, type StateAnswer } from './answer-route.ts';
import { createPreparedAnswers } from './prepared-answers.ts';
import { type Rebuilding, rebuildAnswers } from './rebuild-answers.ts';
import { stateRoute } from './route.ts';

let rebuilding: Rebuilding | undefined;
afterEach(() => rebuilding?.stop());

/** A route that records in `made` which answers it made, and at which state. */
function world() {
  let time = 0;
  const moves = new Set<() => void>();
  const made: string[] = [];
  const state = { tag: 'block 1', derived: new Map() };
  const watch = {
    state,
    onMove(moved: () => void) {
      moves.add(moved);
      return () => void moves.delete(moved);
    },
  };
  const api = {
    snapshot: (work: (read: unknown) => unknown) => work({ state: { ...state } }),
  } as unknown as ApiContext;
  const owners: string[] = [];
  const apiOf = ({ payer }: WorkOwner) => {
    owners.push(payer);
    return api;
  };
  const prepared = createPreparedAnswers<StateAnswer>(1e6, () => time);
  const underWay = { count: 0, sending: 0 };
  const route = stateRoute({
    path: '/answer',
    summary: 'An answer',
    parameters: {},
    response: object({}),
    weight: 1,
    cache: 'prepared',
    scope: 'all',
    async handler({ params }) {
      const { name } = params as { name: string };
      made.push(`${name} at ${state.tag}`);
      if (name === 'broken' && state.tag !== 'block 1') throw new Error('broken');
      return {};
    },
  });
  const options = { api, apiOf, prepared, watch, underWay, logger: pino({ level: 'silent' }) };
  rebuilding = rebuildAnswers(options as unknown as Parameters<typeof rebuildAnswers>[0]);
  return {
    made,
    underWay,
    prepared,
    passTime: (milliseconds: number) => {
      time += milliseconds;
    },
    /** Payers for whose account answers were rebuilt. */
    owners,
    ask: async (name: string, asker = SERVICE) =>
      prepared.get(name, state.tag, asker) ??
      (await prepared.make(name, state.tag, () => freshAnswer(api, route, { name }), asker)),
    move(tag: string) {
      state.tag = tag;
      for (const moved of moves) moved();
    },
  };
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 3000 && !holds(); tries++) await sleep(10);
  expect(holds()).toBe(true);
}

describe('when the state moves', () => {
  it('recently requested answers are rebuilt before the next request, the latest first', async () => {
    const { ask, move, made, prepared, passTime } = world();
    await ask('long ago');
    passTime(200_000);
    await ask('a');
    passTime(5_000);
    await ask('b');
    move('block 2');
    await until(() => prepared.latest('a')?.tag === 'block 2');
    expect(made.slice(3)).toEqual(['b at block 2', 'a at block 2']);
    expect(prepared.get('b', 'block 2')).toBeDefined();
    expect(prepared.latest('long ago')?.tag).toBe('block 1');
  });

  it('a rebuild does not count as a request', async () => {
    const { ask, move, made, prepared, passTime } = world();
    await ask('a');
    passTime(100_000);
    move('block 2');
    await until(() => prepared.latest('a')?.tag === 'block 2');
    passTime(100_000);
    await ask('b');
    move('block 3');
    await until(() => prepared.latest('b')?.tag === 'block 3');
    await rebuilding?.stop();
    expect(made.filter((name) => name.startsWith('a '))).toEqual(['a at block 1', 'a at block 2']);
  });

  it('requests come first, and the answers that they made are not made again', async () => {
    const { ask, move, made, underWay, prepared } = world();
    await ask('a');
    await ask('b');
    underWay.count = 10;
    move('block 2');
    await sleep(100);
    expect(made.length).toBe(2);
    await ask('b');
    underWay.count = 0;
    await until(() => prepared.latest('a')?.tag === 'block 2');
    expect(made.slice(2)).toEqual(['b at block 2', 'a at block 2']);
  });

  it('at most a hundred answers are rebuilt, and a failing one does not stop the others', async () => {
    const { ask, move, made, prepared, passTime } = world();
    await ask('last');
    await ask('broken');
    for (let n = 0; n < 150; n += 1) await ask(`${n}`);
    passTime(2_000);
    await ask('last');
    passTime(2_000);
    await ask('broken');
    move('block 2');
    await until(() => made.length === 152 + 100);
    await rebuilding?.stop();
    expect(made.length).toBe(152 + 100);
    expect(prepared.latest('last')?.tag).toBe('block 2');
    expect(prepared.latest('broken')?.tag).toBe('block 1');
  });

  it('an answer with one caller is rebuilt on its account; answers with several callers on that of the service, and first', async () => {
    const { ask, move, made, owners, prepared, passTime } = world();
    const [one, other]: WorkOwner[] = ['one', 'other'].map((payer) => ({ lane: 'standard', payer }));
    await ask('shared', one);
    await ask('shared', other);
    passTime(2_000);
    for (let n = 0; n < 30; n += 1) await ask(`${n}`, one);
    await ask('of another', other);
    const asked = made.length;
    move('block 2');
    await until(() => made.length === asked + 22);
    await rebuilding?.stop();
    const remade = made.slice(asked).map((text) => text.replace(' at block 2', ''));
    expect(remade[0]).toBe('shared');
    expect(remade).toContain('of another');
    expect(owners.toSorted()).toEqual([...Array(20).fill('one'), 'other', 'service']);
    expect(prepared.latest('0')?.tag).toBe('block 1');
  });

  it('nothing is rebuilt after stop', async () => {
    const { ask, move, made } = world();
    await ask('a');
    await rebuilding?.stop();
    move('block 2');
    await sleep(50);
    expect(made).toEqual(['a at block 1']);
  });
});
