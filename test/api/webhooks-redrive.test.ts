/** Webhooks while a chain is derived again. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { requestRedrive } from '../../pipeline/derive/redrive.ts';
import { answers, type Receiver, startReceiver } from '../support/api/webhooks/receiver.ts';
import { receivedMessages } from './received-messages.ts';
import { CHAIN, type RunningService, startService } from './running-service.ts';

const LONG = { timeout: 60_000, interval: 50 };
let service: RunningService;
let receiver: Receiver;

beforeAll(async () => {
  service = await startService({ startHeight: 560 });
  await service.settled();
  receiver = await startReceiver(answers(204));
});
afterAll(async () => {
  await service?.stop();
  await receiver?.close();
});

it('they hear of it at once, also when they are younger than what is taken back and the chain stands still', async () => {
  const key = await service.issueKey('pro');
  const registered = await fetch(`${service.url}/api/webhooks`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: JSON.stringify({ url: receiver.url, events: ['block', 'reorg'] }),
  });
  expect(registered.status).toBe(201);
  const { secret } = (await registered.json()) as { secret: string };
  const heard = (kind: string) => receivedMessages(receiver, secret).filter(({ type }) => type === kind);
  service.node.step();
  const { height } = service.node;
  await expect.poll(() => heard('block').map(({ data }) => data.height), LONG).toEqual([height]);
  await requestRedrive(service.stores.postgres.pool, CHAIN, height - 5);
  await expect.poll(() => heard('reorg').map(({ data }) => data.toHeight), LONG).toEqual([height - 6]);
  await expect.poll(() => heard('block').map(({ data }) => data.height), LONG).toEqual([height, height]);
});
