/** One of two chains is removed from the configuration: transfers between them have no other end, whatever the stores still have. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApi } from '../../api/server.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import { createVerusdClient } from '../../infra/verusd/verusd-client.ts';
import { createClient, type TestClient } from './client.ts';
import { type PairedService, type PairedSide, startPairedService } from './paired-service.ts';
import { type LooseJson, truth } from './truth.ts';

const sends: readonly string[] = truth('../../pbaas/pchain/transfers.json')
  .filter(({ chain }: LooseJson) => chain === 'root')
  .map(({ txid }: LooseJson) => txid);

let service: PairedService;
beforeAll(async () => {
  service = await startPairedService();
  for (const side of ['root', 'pchain'] as const) await service.go(side, service.tips[side]);
  await service.settled();
});
afterAll(() => service?.stop());

/** The API of a configuration that has this chain alone. */
async function alone(side: PairedSide, work: (client: TestClient) => Promise<void>): Promise<void> {
  const { config, stores, log, logger, signal } = service.context;
  const chains = config.chains.filter(({ name }) => name === side);
  const daemon = createVerusdClient({ rpc: 'http://127.0.0.1:1', chain: side, logger });
  const api = await startApi({
    config: { ...config, chains },
    release: 'test',
    stores,
    topics: createTopicReader(log),
    daemons: new Map([[side, daemon]]),
    logger,
    signal,
  });
  try {
    await work(createClient(() => `http://127.0.0.1:${api.port}`));
  } finally {
    await api.close();
    await daemon.close();
  }
}

const ofSends = (rows: readonly LooseJson[]) => rows.filter(({ txid }) => sends.includes(txid));
const PENDING = { status: 'pending', importChain: null, importTxid: null, importHeight: null, amountOut: null };

it('transfers to the removed chain are pending in every answer', async () => {
  await alone('root', async (client) => {
    const sent = ofSends(await client.walk('/api/bridge/recent?chain=root', 3));
    expect(sent).toHaveLength(3);
    for (const row of sent) expect(row).toMatchObject({ ...PENDING, direction: 'out' });
    const [{ sender }] = sent;
    const ofSender = await client.walk(`/api/bridge/recent?chain=root&address=${sender}`, 3);
    expect(ofSends(ofSender)).toEqual(sent.filter((row) => row.sender === sender));
    const pending = await client.walk('/api/conversions/?chain=root&status=pending', 3);
    const converted = ofSends(pending);
    expect(converted).toHaveLength(2);
    for (const row of pending) expect(row).toMatchObject({ ...PENDING, usdValue: null });
    const all = await client.walk('/api/conversions/?chain=root', 3);
    expect(all.filter(({ importChain }) => importChain === 'pchain')).toEqual([]);
    expect(all.filter(({ status }) => status === 'pending')).toEqual(pending);
    const { total } = await client.json('/api/conversions/?chain=root&status=pending&pageSize=1');
    const summary = await client.json('/api/conversions/summary?chain=root&status=pending');
    expect([total, summary.count]).toEqual([pending.length, pending.length]);
    const [row] = converted;
    expect((await client.json(`/api/tx/${row.txid}?chain=root`)).conversions).toEqual([row]);
    const { data } = await client.json(`/api/oracle/conversions/${row.txid}`);
    expect(data).toMatchObject([{ chain: 'root', importChain: null, status: 'pending', usdValue: null }]);
  });
});

it('transfers from the removed chain are known by their export', async () => {
  await alone('pchain', async (client) => {
    const came = await client.walk('/api/bridge/recent?chain=pchain&direction=in', 3);
    expect(came).toHaveLength(3);
    for (const row of came) {
      expect(row).toMatchObject({ txid: null, vout: null, status: 'completed', sender: null, exportHeight: null });
      expect([row.exportTime, row.latencySeconds]).toEqual([null, null]);
    }
    const conversions = await client.walk('/api/conversions/?chain=pchain', 3);
    expect(conversions.filter(({ sourceChain }) => sourceChain !== null)).toEqual([]);
    expect(ofSends(conversions)).toEqual([]);
  });
});
