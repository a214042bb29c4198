/**
 * Kills the whole program with SIGKILL between an event and its delivery, while the daemon changes branches and the receiver fails: a client
 * that applies every received message once ends with the chain.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey, setTier } from '../../api/access/key-store.ts';
import { createRandom } from '../../recordings/player/faults.ts';
import type { RecordedNode } from '../../recordings/player/recorded-node.ts';
import { SEED } from '../setup/seed.ts';
import { answers, hangs, type Receiver, startReceiver, verified } from '../support/api/webhooks/receiver.ts';
import { createTestStores, type TestStores } from '../support/infra/test-stores.ts';
import { type Program, type ProgramSettings, startProgram, until } from './program.ts';
import { CHAIN, settingsFor, startNode, untilServed } from './recorded-chain.ts';

const MINUTES = 60_000;
const KILLS = Number(process.env.WEBHOOK_KILLS ?? 2);
/** alice@ of the recording. */
const OWNER = { chain: CHAIN, identityAddress: 'i5f5njYtso65186mo5WHMkRme9YG6hrZE2' };

const random = createRandom(SEED);
let node: RecordedNode;
let stores: TestStores;
let receiver: Receiver;
let settings: ProgramSettings;
let key: string;
let webhook: Registered;
let first: number;

interface Registered {
  readonly id: string;
  readonly secret: string;
}

interface Message {
  readonly type: string;
  readonly reverts?: string;
  readonly data: { readonly height: number; readonly hash: string };
}

beforeAll(async () => {
  stores = await createTestStores();
  receiver = await startReceiver();
  node = await startNode(0);
  node.branch('main', node.fork - 4);
  settings = { ...settingsFor(node.url), DATABASE_URL: stores.databaseUrl, WEBHOOK_LOCAL_RECEIVERS: 'true' };
});
afterAll(async () => {
  await receiver?.close();
  await stores?.close();
});

async function post(program: Program, path: string, body?: object): Promise<Registered> {
  const init = { method: 'POST', headers: { authorization: `Bearer ${key}` } };
  const answer = await fetch(program.base + path, { ...init, ...(body && { body: JSON.stringify(body) }) });
  expect(answer.ok).toBe(true);
  return (await answer.json()) as Registered;
}

async function register(program: Program): Promise<Registered> {
  await setTier(stores.postgres, OWNER, 'pro');
  ({ key } = (await createKey(stores.postgres, OWNER, 'test')) ?? { key: '' });
  return post(program, '/api/webhooks', { url: receiver.url, events: ['block', 'reorg'] });
}

/** Redrives deliveries that failed twice, which would otherwise be retried only after minutes. */
async function redriveLeft(program: Program, { id }: Registered): Promise<void> {
  const sql = `SELECT id FROM webhook_deliveries WHERE state <> 'delivered' AND attempts > 1`;
  const { rows } = await stores.postgres.pool.query<{ id: string }>(sql);
  for (const left of rows) await post(program, `/api/webhooks/${id}/deliveries/${left.id}/redrive`);
}

/** Blocks that remain after every message has been applied once, in any order. */
function standing(): { height: number; hash: string }[] {
  const messages = new Map(receiver.received.map((one) => [one.id, verified<Message>(one, webhook.secret)]));
  const reverted = new Set([...messages.values()].map(({ reverts }) => reverts));
  return [...messages]
    .filter(([id, { type }]) => type === 'block' && !reverted.has(id))
    .map(([, { data }]) => ({ height: data.height, hash: data.hash }))
    .sort((a, b) => a.height - b.height);
}

async function stored(): Promise<{ height: number; hash: string }[]> {
  const sql = 'SELECT height, hash FROM blocks WHERE chain = $1 AND height >= $2 ORDER BY height';
  return (await stores.postgres.pool.query<{ height: number; hash: string }>(sql, [CHAIN, first])).rows;
}

it(
  `${KILLS + 1} kills (TEST_SEED=${SEED}) lose no event`,
  async () => {
    let program = await startProgram(settings).answers();
    await untilServed(program, node);
    first = node.height + 1;
    webhook = await register(program);

    // Kill in the middle of an attempt: the message is on its way and not acknowledged.
    receiver.behave(hangs);
    node.branch('main', node.fork);
    await until('an attempt is under way', () => receiver.received.length > 0);
    await program.kill('SIGKILL');
    const [hung] = receiver.received;
    receiver.behave(answers(204));
    program = await startProgram(settings).answers();
    await until('it is made again', () => receiver.received.filter(({ id }) => id === hung?.id).length > 1);

    receiver.behave((response) => void (random() < 0.3 ? response.destroy() : response.writeHead(200).end()));
    for (let kill = 0; kill < KILLS; kill++) {
      node.branch('orphan', node.fork + 1 + Math.floor(random() * 8));
      await sleep(random() * 2_000);
      node.branch('main', node.fork + 2 + Math.floor(random() * 8));
      await sleep(random() * 2_000);
      await program.kill('SIGKILL');
      program = startProgram(settings);
      if (random() < 0.7) await program.answers();
    }
    receiver.behave(answers(204));
    await program.answers();
    node.branch('main', node.fork + 15);
    await untilServed(program, node);
    const expected = await stored();
    expect(expected.at(-1)?.height).toBe(node.height);
    await redriveLeft(program, webhook);
    await expect.poll(standing, { timeout: 3 * MINUTES, interval: 200 }).toEqual(expected);
    const undelivered = `SELECT kind, state, attempts, error FROM webhook_deliveries WHERE state <> 'delivered'`;
    const rest = async () => (await stores.postgres.pool.query(undelivered)).rows;
    await expect.poll(rest, { timeout: 3 * MINUTES, interval: 500 }).toEqual([]);
    expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
  },
  20 * MINUTES,
);
