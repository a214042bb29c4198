/** A daemon keeps working on a call that timed out for its caller: meanwhile the call counts toward the bound of its load. */
import fc from 'fast-check';
import type { Dispatcher, Pool } from 'undici';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { post } from '../../../infra/verusd/http-post.ts';
import type { ForwardOptions } from '../../../infra/verusd/verusd-client.ts';
import { readRpcBody } from '../../../schemas/verusd/rpc-body.ts';
import type { RpcRequest } from '../../../schemas/verusd/rpc-envelope.ts';
import { createAnswerMemory } from '../../access/answer-memory.ts';
import { createDaemonLanes } from '../../access/lane-daemons.ts';
import { untilNextBlock } from '../methods/repeatable.ts';
import { type DaemonMethod, daemon, type Load } from '../methods/rpc-method.ts';
import { createUpstream } from './upstream.ts';

const LIMIT_MS = 1_000;
const MOST_LIMITS = 3;
const LOADS = {
  slow: { name: 'slow', timeoutMs: LIMIT_MS, atOnce: 1, waiting: 8 },
  heavy: { name: 'heavy', timeoutMs: LIMIT_MS, atOnce: 3, waiting: 60 },
} as const satisfies Record<string, Load>;
type Name = keyof typeof LOADS;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));
afterEach(() => void vi.useRealTimers());

const settled = async () => {
  for (let turn = 0; turn < 3; turn += 1) await new Promise(setImmediate);
};

interface Work {
  readonly load: Name;
  /** Parameters of the call; equal calls of a repeatable method may share one call to the daemon. */
  readonly params: string;
  readonly since: number;
  readonly reply: () => void;
}

interface Caller extends Omit<Work, 'reply'> {
  outcome: string | null;
  readonly leave: () => void;
}

/** A simulated daemon whose work does not end with the connection. */
function world() {
  const works: Work[] = [];
  const sent: Work[] = [];
  const chain = { tip: { height: 100, hash: 'a' } };
  const pool = {
    dispatch({ body }: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler) {
      let isOpen = true;
      const abort = () => {
        isOpen = false;
      };
      const controller = { abort } as unknown as Dispatcher.DispatchController;
      handler.onRequestStart?.(controller, {});
      const reply = () => {
        if (isOpen) handler.onResponseStart?.(controller, 200, {}, 'OK');
        if (!isOpen) return;
        handler.onResponseData?.(controller, Buffer.from('{"result":1,"error":null,"id":1}\n'));
        handler.onResponseEnd?.(controller, {});
      };
      const { method, params } = JSON.parse(String(body)) as { method: Name; params: unknown };
      const work = { load: method, params: JSON.stringify(params), since: performance.now(), reply };
      works.push(work);
      sent.push(work);
      return true;
    },
  } as unknown as Pool;
  const forward = (body: string | Uint8Array, { label, timeoutMs = 0, signal, isWanted, holds }: ForwardOptions) =>
    post(pool, { headers: {}, body, timeoutMs, signal, isWanted, maxBytes: 1_000, holds, what: label });
  const upstream = createUpstream({
    daemon: { forward },
    lanes: createDaemonLanes(),
    tip: () => chain.tip,
    finalityDepth: 10,
    mayBeSent: () => undefined,
  });
  const answers = { gather: () => ({ keep: () => undefined, release: () => undefined }) };
  const callers: Caller[] = [];
  return {
    works,
    sent,
    chain,
    callers,
    async passes(ms: number) {
      await vi.advanceTimersByTimeAsync(ms);
      await settled();
    },
    /** With `repeatable` the method is repeatable and this is its parameter; otherwise every call is different. */
    ask(load: Name, payer: string, repeatable?: string) {
      const params = JSON.stringify(repeatable === undefined ? [callers.length] : [repeatable]);
      const { request } = readRpcBody(Buffer.from(`{"method":"${load}","params":${params},"id":1}`)) as {
        request: RpcRequest;
      };
      const repeats = repeatable !== undefined && { repeatable: untilNextBlock };
      const method: DaemonMethod = { ...daemon('', [], ''), load: LOADS[load], ...repeats };
      const memory = createAnswerMemory(answers, payer);
      const since = performance.now();
      const caller: Caller = { load, params, since, outcome: null, leave: () => memory.giveUp() };
      callers.push(caller);
      const hears = (outcome: string) => {
        caller.outcome = outcome;
      };
      const asked = upstream.ask(request, method, { lane: 'standard', payer, memory });
      asked.then(
        () => hears('answered'),
        (error: Error) => hears(error.message),
      );
    },
    end(work: Work) {
      works.splice(works.indexOf(work), 1);
      work.reply();
    },
  };
}

const load = fc.constantFrom<Name>('slow', 'heavy');
const repeatable = fc.option(fc.constantFrom('x', 'y'), { nil: undefined });
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ load, payer: fc.constantFrom('a', 'b', 'c'), repeatable }) },
  { weight: 3, arbitrary: fc.record({ passes: fc.integer({ min: 1, max: 1.2 * LIMIT_MS }) }) },
  { weight: 1, arbitrary: fc.record({ ends: fc.nat(10) }) },
  { weight: 1, arbitrary: fc.record({ leaves: fc.nat(30) }) },
);

it('whatever arrives, leaves and is late, a daemon works on no more calls than the bound of each load, and all callers are answered in time: within half of the limit if their call is not sent', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { works, callers, ask, end } = world();
      for (const at of steps) {
        if ('load' in at) ask(at.load, at.payer, at.repeatable);
        else if ('leaves' in at) callers[at.leaves]?.leave();
        else if ('passes' in at) {
          const then = performance.now() + at.passes;
          for (const work of works.filter(({ since }) => then >= since + MOST_LIMITS * LIMIT_MS)) end(work);
          await settled();
          await vi.advanceTimersByTimeAsync(at.passes);
        } else {
          const work = works[at.ends % Math.max(1, works.length)];
          if (work) end(work);
        }
        await settled();
        for (const name of ['slow', 'heavy'] as const) {
          expect(works.filter((work) => work.load === name).length).toBeLessThanOrEqual(LOADS[name].atOnce);
        }
        const late = callers.filter(({ since }) => performance.now() >= since + LIMIT_MS);
        expect(late.filter(({ outcome }) => outcome === null)).toEqual([]);
        const pastHalf = callers.filter(({ since }) => performance.now() >= since + LIMIT_MS / 2);
        const isAtDaemon = (caller: Caller) =>
          works.some((work) => work.load === caller.load && work.params === caller.params);
        expect(pastHalf.filter((caller) => caller.outcome === null && !isAtDaemon(caller))).toEqual([]);
      }
    }),
    { numRuns: 200 },
  );
});

it('a call that has waited for half of its limit is not sent', async () => {
  const { works, callers, ask, end, passes } = world();
  ask('slow', 'a');
  ask('slow', 'b');
  await passes(0.6 * LIMIT_MS);
  expect(callers.map(({ outcome }) => outcome)).toEqual([null, 'Work queue depth exceeded']);
  for (const work of [...works]) end(work);
  await settled();
  expect(callers[0]?.outcome).toBe('answered');
  expect(works).toEqual([]);
});

it('when a shared call is refused, callers with time left share the next one', async () => {
  const { works, sent, callers, ask, end, passes } = world();
  ask('slow', 'z');
  ask('slow', 'a', 'x');
  await passes(0.1 * LIMIT_MS);
  ask('slow', 'b', 'x');
  await passes(0.1 * LIMIT_MS);
  for (const payer of ['c', 'd', 'e']) ask('slow', payer, 'x');
  await passes(0.45 * LIMIT_MS);
  const refused = 'Work queue depth exceeded';
  expect(callers.map(({ outcome }) => outcome)).toEqual([null, refused, refused, null, null, null]);
  for (const work of [...works]) end(work);
  await passes(0.2 * LIMIT_MS);
  for (const work of [...works]) end(work);
  await settled();
  const answered = 'answered';
  expect(callers.map(({ outcome }) => outcome)).toEqual([answered, refused, refused, answered, answered, answered]);
  expect(sent.map(({ params }) => params)).toEqual(['[0]', '["x"]']);
});

it('a caller that joins the call of a later caller is answered within its own limit', async () => {
  const { works, chain, callers, ask, end, passes } = world();
  ask('slow', 'z');
  ask('slow', 'a', 'x');
  await passes(0.1 * LIMIT_MS);
  ask('slow', 'b', 'x');
  await passes(0.3 * LIMIT_MS);
  chain.tip = { height: 101, hash: 'b' };
  ask('slow', 'c', 'x');
  await passes(0.3 * LIMIT_MS);
  for (const work of [...works]) end(work);
  await passes(0.4 * LIMIT_MS);
  const outcomes = callers.map(({ outcome }) => outcome);
  expect(outcomes).toEqual(['answered', 'Work queue depth exceeded', 'Internal error', null]);
});

it('a place is free again when the late reply begins, or after three time limits without a reply', async () => {
  const { works, callers, ask, end, passes } = world();
  ask('slow', 'a');
  await settled();
  await passes(1.5 * LIMIT_MS);
  expect(callers[0]?.outcome).toBe('Internal error');
  ask('slow', 'b');
  await settled();
  expect(works).toHaveLength(1);
  for (const work of [...works]) end(work);
  await settled();
  expect(works).toHaveLength(1);
  await passes(MOST_LIMITS * LIMIT_MS + 1);
  ask('slow', 'c');
  await settled();
  expect(works).toHaveLength(2);
});
