import { once } from 'node:events';
import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { STATE_FLAGS } from '../../../domain/flags.ts';
import { createVerusdClient } from '../../../infra/verusd/verusd-client.ts';
import { startSmallApi } from '../../../test/support/api/http/small-api.ts';
import { leaver, startStubDaemon } from '../../../test/support/api/rpc/stub-daemon.ts';
import { createDaemonLanes, daemonsOfOwner } from '../../access/lane-daemons.ts';
import type { ApiContext } from '../../api-context.ts';
import { createUnsentAnswers } from '../../http/unsent-answers.ts';
import { createExtensions } from './extensions.ts';

const closers: (() => unknown)[] = [];
afterEach(async () => {
  for (const closer of closers.splice(0).reverse()) await closer();
});

/** A stub of the index for getoptimalroute: many baskets that convert a into b. */
function marketOfBaskets(count: number) {
  const half = { weight: '50000000', reserves: '50000000000', priceInReserve: '100000000' };
  const reserves = JSON.stringify(['a', 'b'].map((currencyId) => ({ currencyId, ...half })));
  const flags = STATE_FLAGS.FRACTIONAL | STATE_FLAGS.LAUNCH_CONFIRMED | STATE_FLAGS.LAUNCH_COMPLETE;
  const baskets = Array.from({ length: count }, (_, index) => {
    return { chain: 'vrsc', currency_id: `basket ${index}`, flags, supply: 10n ** 11n, live_height: 1, reserves };
  });
  const read = {
    rows: async (_: unknown, sql: string) => (sql.includes('FROM currency_states') ? baskets : []),
    state: { derived: new Map([['vrsc', { height: 1, hash: '' }]]), generation: 1 },
  };
  const names = { find: (name: string) => ({ currencyId: name }), name: (id: string) => id, all: () => [] };
  return {
    config: { chains: [{ name: 'vrsc' }] },
    chain: (name: string) => ({ name }),
    currencies: { of: async () => names },
    snapshot: (work: (from: typeof read) => unknown) => work(read),
  };
}

it('getoptimalroute stops calling the daemon after its client has gone', async () => {
  const daemon = await startStubDaemon();
  closers.push(daemon.stop);
  const client = createVerusdClient({ rpc: daemon.rpc, chain: 'vrsc', logger: pino({ level: 'silent' }) });
  closers.push(() => client.close());
  const [lanes, answers] = [new Map([['vrsc', createDaemonLanes()]]), createUnsentAnswers()];
  const { getoptimalroute } = createExtensions((owner, gone) => {
    const daemons = daemonsOfOwner(new Map([['vrsc', client]]), lanes, answers, owner, gone);
    return { ...marketOfBaskets(12), daemons } as unknown as ApiContext;
  });
  const ended = Promise.withResolvers<unknown>();
  const api = await startSmallApi({
    client,
    extensions: {
      getoptimalroute(...call) {
        const made = getoptimalroute?.(...call) ?? Promise.reject(new Error('no such method'));
        ended.resolve(made.catch((error: unknown) => error));
        return made;
      },
    },
  });
  closers.push(() => api.close());
  const held = Promise.withResolvers<string>();
  daemon.answer = () => held.promise;
  const socket = leaver(api.port, { id: 1, method: 'getoptimalroute', params: ['a', 'b', 1] });
  await expect.poll(() => daemon.calls.length).toBe(5);
  const closed = once(socket, 'close');
  socket.destroy();
  await closed;
  await fetch(`http://127.0.0.1:${api.port}/read`); // by now the service has noticed
  held.resolve('{"netinputamount":1,"estimatedcurrencyout":1}');
  expect(await ended.promise).toMatchObject({ code: -32603 });
  expect(daemon.calls).toHaveLength(5);
});
