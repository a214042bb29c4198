/**
 * Webhooks from the commit of a block to the receivers, through the durable queue; the baseline sends the same signed messages with undici
 * directly, without storage, to as many receivers at a time.
 * node benchmarks/webhooks.bench.ts [blocks = 100] [receivers = 20] [rounds = 5]
 */

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { Agent, request } from 'undici';
import { setTier } from '../api/access/key-store.ts';
import { eventsOfRecord } from '../api/push/events-of-record.ts';
import { createStateWatch } from '../api/state/state-watch.ts';
import { messageBody, newMessageId } from '../api/webhooks/message-body.ts';
import { newSecret, signatures } from '../api/webhooks/secrets.ts';
import { openWebhooks } from '../api/webhooks/webhooks.ts';
import { createTopicReader } from '../infra/event-log/topic-reader.ts';
import { encodeFactsRecord } from '../schemas/log-codec.ts';
import type { FactsAppended } from '../schemas/log-records.ts';
import { configOf } from '../test/api/running-service.ts';
import { chainConfig, createTestLog } from '../test/laws/replay.ts';
import { storeIdentity } from '../test/support/api/access/store-identity.ts';
import { createTestStores } from '../test/support/infra/test-stores.ts';
import { blockFact } from '../test/support/pipeline/sinks/made-facts.ts';
import { median } from './verdict.ts';
import type { ReceiverOrder } from './webhooks/receiver.ts';

const CHAIN = 'vrsc';
const OWNER = { chain: CHAIN, identityAddress: 'iOwner', flags: 0 };
const ASKED = JSON.stringify({ events: ['block'], chains: null, filter: {}, thresholds: [] });
const [blocks = 100, receivers = 20, rounds = 5] = process.argv.slice(2).map(Number);

const logger = pino({ level: 'warn' });
const stop = new AbortController();
const log = await createTestLog();
const stores = await createTestStores();
const { postgres } = stores;
const child = fork(fileURLToPath(new URL('./webhooks/receiver.ts', import.meta.url)));
const [{ port }] = (await once(child, 'message')) as [{ port: number }];
const secret = newSecret();
const urlOf = (receiver: number) => `http://127.0.0.1:${port}/${receiver}`;

await storeIdentity(postgres, OWNER);
await setTier(postgres, OWNER, 'pro');
await postgres.pool.query(
  `INSERT INTO webhooks (id, chain, identity_address, url, description, asked, confirmations, secret, since)
   SELECT n::text, $1, $2, $3::text || n, '', $4, 0, $5, '{}' FROM generate_series(1, $6::int) AS n`,
  [CHAIN, OWNER.identityAddress, urlOf(0).slice(0, -1), ASKED, secret, receivers],
);
const config = { ...configOf([chainConfig(CHAIN)]), webhookLocalReceivers: true };
const watch = await createStateWatch(postgres, { release: 'benchmark', chains: new Set([CHAIN]) }, logger, stop.signal);
const webhooks = await openWebhooks({
  config,
  release: 'benchmark',
  postgres,
  topics: createTopicReader(log),
  watch,
  names: { idsOf: () => [], refresh: () => null, version: () => 0, unknownCurrency: () => null },
  shares: { order: () => 0 },
  logger,
});
const writer = await log.openWriter('facts', CHAIN);
const agent = new Agent();

/** Resolves once the receivers have received this many different messages. */
async function received(messages: number): Promise<void> {
  const answered = once(child, 'message');
  child.send({ messages } satisfies ReceiverOrder);
  const [answer] = await answered;
  if (answer.messages !== messages) throw new Error(`${answer.messages} messages came instead of ${messages}`);
}

function recordOf(height: number): FactsAppended {
  const fact = blockFact(height);
  return { kind: 'facts', position: height, source: height, height, hash: fact.hash, facts: [fact] };
}

async function throughQueue(): Promise<void> {
  const { next } = writer;
  const records = Array.from({ length: blocks }, (_, index) => recordOf(next + index));
  await writer.append(records.map((record) => ({ position: record.position, payload: encodeFactsRecord(record) })));
  const all = received(blocks * receivers);
  await postgres.pool.query(
    `INSERT INTO stage_positions VALUES ('derive', $1, $2::bigint, $2::bigint, '', 0)
     ON CONFLICT (stage, chain) DO UPDATE SET position = EXCLUDED.position, height = EXCLUDED.height`,
    [CHAIN, writer.next - 1],
  );
  await all;
}

/** Waits until the deliveries are recorded, so that this work is not part of the next measurement. */
async function settled(): Promise<void> {
  for (;;) {
    const sql = `SELECT count(*)::int AS count FROM webhook_deliveries WHERE state <> 'delivered'`;
    if ((await postgres.pool.query<{ count: number }>(sql)).rows[0]?.count === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function directly(): Promise<void> {
  const all = received(blocks * receivers);
  const send = async (receiver: number) => {
    for (let height = 0; height < blocks; height += 1) {
      const [event] = eventsOfRecord({ name: CHAIN, finalityDepth: 100, nativeCurrencyId: '' }, recordOf(height));
      const at = new Date(blockFact(height).time * 1000);
      const body = messageBody({ type: 'block', at, chain: CHAIN, data: event?.data() ?? '' });
      const headers = {
        'content-type': 'application/json; charset=utf-8',
        ...signatures(newMessageId(), new Date(), body, [secret]),
      };
      const answer = await request(urlOf(receiver), { dispatcher: agent, method: 'POST', headers, body });
      await answer.body.dump();
    }
  };
  await Promise.all(Array.from({ length: receivers }, (_, receiver) => send(receiver)));
  await all;
}

interface Measured {
  readonly seconds: number;
  /** CPU time of this process. */
  readonly cpuSeconds: number;
}

async function measure(work: () => Promise<void>): Promise<Measured> {
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(cpu);
  return { seconds: (performance.now() - began) / 1000, cpuSeconds: (user + system) / 1e6 };
}

try {
  await directly();
  await throughQueue();
  const measured = { 'signed POSTs by undici (baseline)': [] as Measured[], webhooks: [] as Measured[] };
  for (let round = 0; round < rounds; round += 1) {
    await settled();
    measured['signed POSTs by undici (baseline)'].push(await measure(directly));
    measured.webhooks.push(await measure(throughQueue));
  }
  const messages = blocks * receivers;
  let baseline = 0;
  for (const [name, results] of Object.entries(measured)) {
    const rate = messages / median(results.map(({ seconds }) => seconds));
    baseline ||= rate;
    const cpu = (median(results.map(({ cpuSeconds }) => cpuSeconds)) * 1000) / messages;
    const columns = [`${rate.toFixed(0).padStart(7)} messages/s`, `${cpu.toFixed(2)} ms CPU each`];
    console.log(`${name.padEnd(36)}${columns.join('   ')}   ${(rate / baseline).toFixed(2)} of the baseline`);
  }
} finally {
  child.disconnect();
  stop.abort();
  await webhooks.close();
  await agent.close();
  await watch.stop();
  await stores.close();
  await log.close();
}
