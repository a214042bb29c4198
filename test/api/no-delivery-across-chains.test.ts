/** Conversions that another chain executed far off the market and did not pay: both chains, and the bridge, report the same outcome. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseExact } from '../../domain/json/exact-json.ts';
import { PAIRED_CHAINS } from '../support/processors/chain-pair.ts';
import { reprice } from './changed-recording.ts';
import { createClient } from './client.ts';
import { type PairedService, startPairedService } from './paired-service.ts';
import type { LooseJson } from './truth.ts';

/** On pchain: executes a convert and a via of root's coin, and pays a send. The via asks for pchain's own coin. */
const IMPORT = 'ed2c15e83f69084cdddcf1fa86565819faeeb73aa53da2c4b41571517f4d10be';
const ARRIVED = 267;
const CUTOVER = Date.parse('2030-01-01T00:00:00Z') / 1000;
const currencyId = PAIRED_CHAINS.root.nativeCurrencyId;
const PATIENT = { timeout: 60_000, interval: 250 };

let service: PairedService;
const client = createClient(() => service.url);

beforeAll(async () => {
  service = await startPairedService({
    stableAnchors: [], // otherwise the value of root's coin would be beyond doubt on either chain
    cutover: CUTOVER,
    change: {
      height: ARRIVED,
      by(block) {
        const tx = block.tx.find(({ txid }: LooseJson) => txid === IMPORT);
        reprice(tx, { currencyId, timesFour: false });
      },
    },
  });
  await service.go('root', service.tips.root);
  await service.go('pchain', service.tips.pchain);
  await service.settled();
});
afterAll(() => service?.stop());

const WANTED = [
  ['convert', 'refunded', 'no_delivery'],
  ['via', 'unmatched', 'no output of the import'],
];

/** Kind, status and reason of the rows that the import executed. */
function summaries(rows: LooseJson[]): unknown[] {
  const ours = rows.filter(({ importTxid, type }) => importTxid === IMPORT && type !== 'send');
  return ours.map(({ type, status, reason }) => [type, status, reason?.slice(0, 23)]).sort();
}

it.each(['root', 'pchain'])('the outcome in the lists of %s', async (chain) => {
  const all = () => client.walk(`/api/conversions/?chain=${chain}`, 3).then(summaries);
  await expect.poll(all, PATIENT).toEqual(WANTED);
  for (const [index, status] of ['refunded', 'unmatched'].entries()) {
    const path = `/api/conversions/?chain=${chain}&status=${status}`;
    const rows = await client.walk(path, 3);
    expect(summaries(rows)).toEqual([WANTED[index]]);
    expect((await client.json(path)).total).toBe(rows.length);
  }
});

it.each(['root', 'pchain'])('the outcome in the bridge feed of %s, REST and JSON-RPC', async (chain) => {
  const rows = await client.walk(`/api/bridge/recent?chain=${chain}`, 3);
  expect(summaries(rows)).toEqual(WANTED);
  const sent = rows.filter(({ importTxid, type }) => importTxid === IMPORT && type === 'send');
  expect(sent.map(({ status }) => status)).toEqual(['completed']);
  const body = JSON.stringify({ id: 1, method: 'getbridgetransfers', params: [{ limit: 100 }] });
  const answer = await client.raw(`/rpc/${chain}`, { method: 'POST', body });
  expect((parseExact(await answer.text()) as LooseJson).result).toEqual(rows);
});

it('the outcome in the valuation of the import', async () => {
  const { data } = await client.json(`/api/oracle/conversions/${IMPORT}`);
  const stamps = data.map(({ status, reason, regime, provisional }: LooseJson) => [
    status,
    reason,
    regime,
    provisional,
  ]);
  expect(stamps.sort()).toEqual([
    ['refunded', 'no_delivery', 'backfill', expect.any(Boolean)],
    ['unmatched', 'unmatched', null, expect.any(Boolean)],
  ]);
});
