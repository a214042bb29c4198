/** Calls of JSON-RPC that a daemon cannot handle, or that would reveal the operator's secrets. */
import fc from 'fast-check';
import { hostileCalls } from '../../support/api/rpc/hostile-calls.ts';
import { type Attack, between, oneOf, post, repeat, send } from '../target.ts';

const CALLS_AT_ONCE = 50;

export const hostileCallsAttack: Attack = {
  name: 'hostile calls',
  run: (target) =>
    repeat(target, 4, 0, async () => {
      const { random, networks, signal } = target;
      const seed = between(random, 1, 2 ** 30);
      for (const { method, params } of fc.sample(hostileCalls(), { seed, numRuns: CALLS_AT_ONCE })) {
        if (signal.aborted) return;
        await send(target, oneOf(random, networks), [post('/', `{"method":"${method}","params":${params},"id":1}`)]);
      }
    }),
};
