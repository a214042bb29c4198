/** A JSON-RPC call is charged in two parts, at its headers and after its body is read: tests of both parts together. */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createMemoryLedger } from '../../test/support/api/access/memory-ledger.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { type CallCost, createGate } from './gate.ts';
import type { ActiveKey } from './key-store.ts';
import type { AllowanceLedger } from './ledger.ts';
import { createLimiter } from './limiter.ts';
import { createPostgresLedger } from './postgres-ledger.ts';
import { newId, newKey } from './tokens.ts';

interface World {
  readonly ledger: AllowanceLedger;
  /** Credits of the identity per minute. */
  readonly allowance: number;
  readonly requests?: number;
  readonly ofKey?: number | null;
  readonly members?: number;
}

const BEGIN = 1_000_000;

function world({ ledger, allowance, requests = 100, ofKey = null, members = 1 }: World) {
  const id = newId();
  const { key: bearer } = newKey(id);
  const active = { id, account: `identity ${id}`, tier: 'free', creditsPerMinute: ofKey, expiresAt: null };
  const state = { time: BEGIN, key: active as unknown as ActiveKey | null, isKnown: true };
  const limiter = createLimiter({ ledger, process: id, now: () => state.time, members: () => members });
  const tier = { creditsPerMinute: allowance };
  const gate = createGate({
    config: { tiers: { free: tier, developer: tier, pro: tier }, keylessRequestsPerMinute: requests },
    limiter,
    keys: { known: () => (state.isKnown ? state.key : undefined), find: async () => state.key },
    usage: { record: () => () => undefined },
  });
  const enter = (token = bearer) => gate.rpc({ network: `20010db8${id}/64`, bearer: token, apiKey: '' }, '/');
  return {
    state,
    bearer,
    enter,
    /** A call whose body is short. */
    async ask(cost: CallCost, token = bearer) {
      const entrance = await enter(token);
      return entrance.refused ? entrance.refusedWith(cost) : entrance.settle(cost);
    },
  };
}

const used = fc.array(
  fc.record({ after: fc.integer({ min: 0, max: 20_000 }), cost: fc.integer({ min: 1, max: 25 }) }),
  { maxLength: 25 },
);
const schedule = fc.record({
  used,
  cost: fc.integer({ min: 1, max: 25 }),
  allowance: fc.oneof(fc.integer({ min: 1, max: 70 }), fc.constant(2_000)),
  ofKey: fc.option(fc.integer({ min: 1, max: 30 })),
  hasKey: fc.boolean(),
  members: fc.constantFrom(1, 2),
});

/** A caller that waits for Retry-After is admitted, unless another caller spends from the same allowances. */
async function holds(ledger: AllowanceLedger, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(schedule, async ({ used, cost, allowance, ofKey, hasKey, members }) => {
      const { state, ask, bearer } = world({ ledger, allowance, requests: allowance, ofKey, members });
      const token = hasKey ? bearer : '';
      const askFor = async (units: number) => (await ask({ requests: units, credits: units }, token)).refusal;
      for (const { after, cost: units } of used) {
        state.time += after;
        await askFor(units);
      }
      const refusal = await askFor(cost);
      if (!refusal) return;
      expect(refusal.code).toBe('rate_limited');
      const least = hasKey && ofKey !== null ? Math.min(allowance, ofKey) : allowance;
      const wait = refusal.details.headers?.['Retry-After'];
      expect(wait === undefined).toBe(cost > least);
      if (wait === undefined) return;
      state.time += Number(wait) * 1000;
      expect((await askFor(cost))?.message).toBeUndefined();
    }),
    { numRuns },
  );
}

describe('Retry-After of a refused call', () => {
  it('is the time after which the same call passes', () => holds(createMemoryLedger(), 500));

  describe('with the Postgres ledger', () => {
    let stores: TestStores;
    beforeAll(async () => {
      stores = await createTestStores();
    });
    afterAll(() => stores.close());

    it('is the same', async () => {
      const ledger = createPostgresLedger(stores.postgres);
      await holds(ledger, 25);
      await ledger.close();
    });
  });

  it('is missing when the call costs more than an allowance ever contains', async () => {
    const { ask } = world({ ledger: createMemoryLedger(), allowance: 60, ofKey: 4 });
    const { refusal } = await ask({ requests: 1, credits: 5 });
    expect(refusal?.message).toBe('this costs 5, more than the 4 credits of this key in a minute');
    expect(refusal?.details).toEqual({});
  });
});

describe('a key whose credits are lowered while the body arrives', () => {
  it('gets no Retry-After for a call that costs more than the new allowance', async () => {
    const { state, enter, ask } = world({ ledger: createMemoryLedger(), allowance: 60, ofKey: 6 });
    await ask({ requests: 1, credits: 6 });
    const entrance = await enter();
    expect(entrance.refused?.refusal?.details.headers?.['Retry-After']).toBeDefined();
    Object.assign(state, { key: { ...state.key, creditsPerMinute: 4 } });
    await enter();
    expect(entrance.refusedWith({ requests: 1, credits: 5 }).refusal?.details).toEqual({});
  });
});

describe('a key that is revoked while the body arrives', () => {
  const CALLS = [
    ['that costs one credit', 1],
    ['that costs more', 5],
  ] as const;

  it.each(CALLS)('is refused for a call %s, and pays only the credit of its headers', async (_, credits) => {
    for (const isKnown of [true, false]) {
      const { state, enter, ask } = world({ ledger: createMemoryLedger(), allowance: 60 });
      const key = state.key;
      const entrance = await enter();
      expect(entrance.refused).toBeNull();
      Object.assign(state, { key: null, isKnown });
      expect(entrance.settleNow({ requests: 1, credits })?.refusal?.status).toBe(isKnown ? 401 : undefined);
      const { refusal } = await entrance.settle({ requests: 1, credits });
      expect(refusal?.code).toBe('key_invalid');
      Object.assign(state, { key, isKnown: true });
      expect((await ask({ requests: 1, credits: 1 })).headers).toContain('"credits";r=58;');
    }
  });

  it.each(CALLS)('a key that is not revoked is charged as usual for a call %s', async (_, credits) => {
    for (const isKnown of [true, false]) {
      const { state, enter } = world({ ledger: createMemoryLedger(), allowance: 60 });
      const entrance = await enter();
      state.isKnown = isKnown;
      const settled = await entrance.settle({ requests: 1, credits });
      expect(settled.refusal).toBeNull();
      expect(settled.headers).toContain(`"credits";r=${60 - credits};`);
    }
  });
});
