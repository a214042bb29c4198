/** Webhooks while a chain is derived again, and while they are changed. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requestRedrive } from '../../pipeline/derive/redrive.ts';
import { type Receiver, startReceiver } from '../support/api/webhooks/receiver.ts';
import { receivedMessages } from './received-messages.ts';
import { CHAIN, type RunningService, startService } from './running-service.ts';
import type { LooseJson } from './truth.ts';

const LONG = { timeout: 60_000, interval: 50 };
let service: RunningService;
let key: string;
const receivers: Receiver[] = [];

beforeAll(async () => {
  // Each attempt is the last one.
  service = await startService({ startHeight: 560, webhooks: { delaysMs: [] } });
  await service.settled();
  key = await service.issueKey('pro');
});
afterAll(async () => {
  await service?.stop();
  for (const receiver of receivers) await receiver.close();
});

async function receiver(...behaviour: Parameters<typeof startReceiver>): Promise<Receiver> {
  const made = await startReceiver(...behaviour);
  receivers.push(made);
  return made;
}

const send = (method: string, path: string, body?: unknown): Promise<Response> =>
  fetch(`${service.url}/api/webhooks${path}`, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

async function ask(...request: Parameters<typeof send>): Promise<LooseJson> {
  const response = await send(...request);
  expect(response.ok).toBe(true);
  return response.json();
}

it('webhooks are notified of a redrive at once, also if they are newer than its blocks and the chain stands still', async () => {
  const at = await receiver();
  const { secret } = await ask('POST', '', { url: at.url, events: ['block', 'reorg'] });
  const heard = (kind: string) => receivedMessages(at, secret).filter(({ type }) => type === kind);
  service.node.step();
  const { height } = service.node;
  await expect.poll(() => heard('block').map(({ data }) => data.height), LONG).toEqual([height]);
  await requestRedrive(service.stores.postgres.pool, CHAIN, height - 5);
  await expect.poll(() => heard('reorg').map(({ data }) => data.toHeight), LONG).toEqual([height - 6]);
  await expect.poll(() => heard('block').map(({ data }) => data.height), LONG).toEqual([height, height]);
  await requestRedrive(service.stores.postgres.pool, CHAIN, 0);
  await expect
    .poll(
      () =>
        heard('reorg')
          .map(({ data }) => [data.toHeight, data.hash])
          .at(1),
      LONG,
    )
    .toEqual([-1, null]);
  await expect.poll(() => heard('block').map(({ data }) => data.height), LONG).toEqual([height, height, height]);
});

it('a URL that was replaced before it answered 410 disables nothing', async () => {
  const asked = Promise.withResolvers<void>();
  const replaced = Promise.withResolvers<void>();
  const old = await receiver(async (response) => {
    asked.resolve();
    await replaced.promise;
    response.writeHead(410).end();
  });
  const at = await receiver();
  const { id } = await ask('POST', '', { url: old.url, events: ['reorg'] });
  await ask('POST', `/${id}/test`);
  await asked.promise;
  await ask('PATCH', `/${id}`, { url: at.url });
  replaced.resolve();
  await expect.poll(() => at.received.length, LONG).toBe(1);
  expect(await ask('GET', `/${id}`)).toMatchObject({ enabled: true, disabledReason: null });
});

it('a webhook can be changed while one of its chains is not configured', async () => {
  const at = await receiver();
  const { id } = await ask('POST', '', { url: at.url, events: ['block'], chains: [CHAIN] });
  const sql = 'UPDATE webhooks SET asked = replace(asked::text, $2, $3)::json WHERE id = $1';
  const both = [CHAIN, 'gone'];
  await service.stores.postgres.pool.query(sql, [id, JSON.stringify([CHAIN]), JSON.stringify(both)]);
  expect(await ask('PATCH', `/${id}`, { enabled: false })).toMatchObject({ enabled: false, chains: both });
  expect((await send('PATCH', `/${id}`, { chains: ['gone'] })).status).toBe(400);
});
