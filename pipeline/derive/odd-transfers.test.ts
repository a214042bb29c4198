/** Reserve transfers that the protocol accepts although no wallet makes them: anyone may send one, and the stage must not stop at it. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stringifyExact } from '../../domain/json/exact-json.ts';
import { createTestLog, deriveToEnd, NATIVE, type TestLog } from '../../test/laws/replay.ts';
import { createTestStores, type TestStores } from '../../test/support/infra/test-stores.ts';
import { block, decodedAs, output, payTo, transaction } from '../../test/support/processors/blocks.ts';

let stores: TestStores;
let log: TestLog;

beforeAll(async () => {
  stores = await createTestStores();
  log = await createTestLog();
});

afterAll(async () => {
  await log.drop();
  await stores.close();
});

const id = (name: string): string => name.padStart(64, '0');
const KEY = `R${'a'.repeat(33)}`;
/** Raw bytes for another system, as many as a script element can contain. */
const RAW = createHash('shake256', { outputLength: 5900 }).update('raw').digest('hex');

function send(n: number, flags: number, destination: object) {
  const transfer = `{"version":1,"currencyvalues":{"${NATIVE}":1.0},"flags":${flags},"feecurrencyid":"${NATIVE}","fees":0.0002,
    "destinationcurrencyid":"${NATIVE}","destination":${JSON.stringify(destination)}}`;
  return output(n, '100020000', decodedAs('reservetransfer', transfer));
}

it('keeps transfers with a destination longer than any address, and with the highest bit set in the flags', async () => {
  const coinbase = (height: number) => transaction(id(`c${height}`), [], [output(0, '600000000', payTo(KEY))]);
  const sends = [
    send(0, 1, { address: RAW, type: 11 }),
    send(1, (1 | 0x8000_0000) >> 0, { address: KEY, type: 2 }),
    send(2, 1, { address: KEY, type: 2 }),
  ];
  const [first, second] = [id('b0'), id('b1')];
  const blocks = [
    block(0, [coinbase(0)], { hash: first }),
    block(1, [coinbase(1), transaction(id('a'), [`${id('c0')}:0`], sends)], { hash: second, previousblockhash: first }),
  ];
  await log.append(
    'odd',
    blocks.map((one) => ({
      kind: 'block',
      height: one.height,
      hash: one.hash,
      previousHash: one.previousblockhash ?? null,
      time: one.time,
      block: Buffer.from(stringifyExact(one)),
    })),
  );
  await deriveToEnd('odd', { log, stores });
  const { rows } = await stores.postgres.pool.query(
    `SELECT vout, flags, kind, destination, (SELECT count(*)::int FROM dead_letters WHERE chain = 'odd') AS dead
     FROM transfers WHERE chain = 'odd' ORDER BY vout`,
  );
  const kept = { flags: 1, kind: 'send', destination: KEY, dead: 0 };
  expect(rows).toEqual([
    { ...kept, vout: 0, destination: null },
    { ...kept, vout: 1 },
    { ...kept, vout: 2 },
  ]);
});
