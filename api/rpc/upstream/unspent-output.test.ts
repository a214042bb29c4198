/** gettxout with the mempool, made from a daemon's getrawtransaction. */
import { expect, it } from 'vitest';
import { CHAIN, createDoubleService } from '../../../test/support/api/rpc/double-service.ts';
import { textOf } from '../../../test/support/api/rpc/recorded-service.ts';
import { turnsDuring } from '../../../test/support/infra/loop-turns.ts';

const TXID = 'ab'.repeat(32);
const [TIP, OTHER] = ['cd'.repeat(32), 'ef'.repeat(32)];
const SCRIPT = '{"type":"pubkeyhash","reqSigs":1}';

const asDaemon = (tx: string) => `{"result":${tx},"error":null,"id":1}\n`;

/** `where`: members that say where the transaction is. */
function world(where: string, ofDaemon: number | null = null, envelope = asDaemon) {
  const vout = `[{"value":1.50000000,"n":0,"scriptPubKey":${SCRIPT}}]`;
  const tx = `{"txid":"${TXID}","version":4,"vin":[{"txid":"${OTHER}","vout":1}],"vout":${vout}${where}}`;
  const { received, post } = createDoubleService({
    reply: envelope(tx),
    nativeCurrencyId: '',
    best: OTHER,
    tip: () => ({ height: 7, hash: TIP }),
    daemonHeight: (chain) => (chain === CHAIN ? ofDaemon : null),
  });
  return {
    received,
    ask: async () => textOf(await post(Buffer.from(`{"method":"gettxout","params":["${TXID}",0],"id":1}`))),
  };
}

const answer = (confirmations: number, best = TIP) =>
  `{"result":{"bestblock":"${best}","confirmations":${confirmations},"value":1.50000000,"scriptPubKey":${SCRIPT},"version":4,` +
  '"coinbase":false},"error":null,"id":1}\n';
const NOTHING = '{"result":null,"error":null,"id":1}\n';

it.each([
  ['in the mempool', '', answer(0)],
  ['in a block', `,"blockhash":"${OTHER}","height":5,"confirmations":3`, answer(3)],
  ['only in an abandoned branch', `,"blockhash":"${OTHER}","height":-1,"confirmations":0`, NOTHING],
])('an output of a transaction %s', async (_, where, expected) => {
  const { received, ask } = world(where);
  expect(await ask()).toBe(expected);
  expect(received).toEqual([`{"method":"getrawtransaction","params":["${TXID}",1],"id":1}`]);
});

it('finds the result wherever a proxy puts it in the reply', async () => {
  const { ask } = world('', null, (tx) => `{"id":1,"error":null,"result":${tx}}`);
  expect(await ask()).toBe(answer(0));
});

it('names the best block of the daemon while the index is far behind it', async () => {
  expect(await world('', 13).ask()).toBe(answer(0, OTHER));
  expect(await world('', 12).ask()).toBe(answer(0, TIP));
});

it('lets other work run while it reads a transaction of megabytes', async () => {
  const outputs = Array.from({ length: 40_000 }, (_, n) => `{"value":0.1,"n":${n},"scriptPubKey":${SCRIPT}}`);
  const tx = `{"txid":"${TXID}","version":4,"vin":[{"coinbase":"00"}],"vout":[${outputs}],"confirmations":2}`;
  const { post } = createDoubleService({
    reply: `{"result":${tx},"error":null,"id":1}\n`,
    nativeCurrencyId: '',
    tip: () => ({ height: 7, hash: TIP }),
  });
  const said = post(Buffer.from(`{"method":"gettxout","params":["${TXID}",39999],"id":1}`));
  const turns = await turnsDuring(said);
  expect(textOf(await said)).toContain(
    `"confirmations":2,"value":0.1,"scriptPubKey":${SCRIPT},"version":4,"coinbase":true}`,
  );
  expect(turns).toBeGreaterThan(1);
});
