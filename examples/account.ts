/**
 * Manages an account from a program: logs an identity in, makes a key, reads its usage and remaining credits, registers a webhook, sends it a
 * test message, and redelivers failed messages.
 *
 *   node examples/account.ts http://127.0.0.1:8080 alice@ https://bot.example/hooks
 *
 * It prints the command for a wallet with the identity's keys, and reads the signature from its input. Webhooks need the tier pro.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { createVerustreamClient } from '../client/client.ts';

const [baseUrl = '', identity, url] = process.argv.slice(2);
if (!identity || !url) {
  console.error('usage: node examples/account.ts <service> <identity> <address of the receiver>');
  process.exit(2);
}

const input = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function readLine(question: string): Promise<string> {
  console.log(question);
  return String((await input.next()).value ?? '').trim();
}

interface Answered<Data> {
  readonly data?: Data;
  readonly error?: { readonly code: string; readonly detail?: string };
}

/** @throws Error with the reason when the request was refused */
function good<Data>({ data, error }: Answered<Data>): Data {
  if (error) throw new Error(`${error.code}: ${error.detail ?? ''}`);
  return data as Data;
}

async function logIn(): Promise<string> {
  const service = createVerustreamClient({ baseUrl });
  const { challengeId, command } = good(
    await service.POST('/api/auth/challenge', { body: { identity: identity ?? '' } }),
  );
  const signature = await readLine(`sign: ${command}`);
  const { token, expiresAt } = good(await service.POST('/api/auth/login', { body: { challengeId, signature } }));
  console.log(`logged in until ${expiresAt}`);
  return token;
}

/** The session does not spend the identity's credits here, so a key that uses all of them does not lock out its owner. */
const account = createVerustreamClient({ baseUrl, key: await logIn() });

const { id: keyId, key } = good(await account.POST('/api/keys', { body: { name: 'bot' } }));
console.log(`key ${keyId} is shown once: ${key}`);
const bot = createVerustreamClient({ baseUrl, key });
good(await bot.GET('/api/market/protocol'));

const now = good(await account.GET('/api/usage/now'));
console.log(`left now: ${now.remaining} of ${now.creditsPerMinute} credits, tier ${now.tier}`);
await sleep(now.writtenWithinSeconds * 1_000); // counts are written every second
const used = good(await account.GET('/api/usage', { params: { query: { step: 'day', key: keyId } } }));
for (const { at, requests, credits, refused } of used.results) {
  console.log(`used since ${at}: ${requests} requests, ${credits} credits, ${refused} refused`);
}

const hook = good(await bot.POST('/api/webhooks', { body: { url, events: ['block', 'reorg'] } }));
console.log(`webhook ${hook.id}; its secret is shown once: ${hook.secret}`);
const ofHook = { path: { id: hook.id } };
const test = good(await bot.POST('/api/webhooks/{id}/test', { params: ofHook }));

/** Waits until the delivery was attempted more than `after` times, or reached a final state. */
async function outcome(deliveryId: string, after: number): Promise<boolean> {
  for (;;) {
    const params = { path: { id: hook.id, deliveryId } };
    const delivery = good(await bot.GET('/api/webhooks/{id}/deliveries/{deliveryId}', { params }));
    const { state, status, error, latencyMs, attempts, answer } = delivery;
    if (state === 'delivered') {
      console.log(`delivered: ${status} in ${latencyMs} ms`);
      return true;
    }
    if (state === 'failed' || attempts > after) {
      console.log(`not delivered: ${error}; the receiver said: ${answer ?? 'nothing'}`);
      return false;
    }
    await sleep(200);
  }
}

let delivered = await outcome(test.id, 0);
while (!delivered) {
  await readLine('repair the receiver, then press Enter');
  // Redelivers all failed messages, and the test message even while it waits for its next attempt.
  const { redriven } = good(await bot.POST('/api/webhooks/{id}/redrive', { params: ofHook }));
  const params = { path: { id: hook.id, deliveryId: test.id } };
  const again = good(await bot.POST('/api/webhooks/{id}/deliveries/{deliveryId}/redrive', { params }));
  console.log(`sent again: ${redriven} failed deliveries and the test`);
  delivered = await outcome(test.id, again.attempts);
}
good(await account.POST('/api/auth/logout'));
process.exit();
