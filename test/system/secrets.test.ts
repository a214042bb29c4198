/** Requests every path of an account on the whole program: no secret appears in a second answer, nor in the log at any level. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { setTier } from '../../api/access/key-store.ts';
import { methodOf } from '../../api/http/route.ts';
import { routeTable } from '../../api/rest/route-table.ts';
import { type IdentityDaemon, type OwnIdentity, startIdentityDaemon } from '../api/generated-identities.ts';
import type { LooseJson } from '../api/truth.ts';
import { SEED } from '../setup/seed.ts';
import { answers, type Receiver, startReceiver } from '../support/api/webhooks/receiver.ts';
import { createTestStores, type TestStores } from '../support/infra/test-stores.ts';
import { type Program, startProgram } from './program.ts';
import { CHAIN, settingsFor, untilServed } from './recorded-chain.ts';

const MINUTES = 60_000;
const PATIENT = { timeout: 60_000, interval: 100 };
/** All paths that open, use or close an account. */
const OF_ACCOUNT = routeTable.filter(({ path }) => /^\/api\/(auth|keys|usage|webhooks)(\/|$)/.test(path));

let stores: TestStores;
let node: IdentityDaemon;
let owner: OwnIdentity;
let receiver: Receiver;
let program: Program;
beforeAll(async () => {
  stores = await createTestStores();
  receiver = await startReceiver();
  node = await startIdentityDaemon(SEED, [{}]);
  const [first] = node.identities;
  if (!first) throw new Error('the chain has no identity');
  owner = first;
  const settings = { LOG_LEVEL: 'trace', DATABASE_URL: stores.databaseUrl, WEBHOOK_LOCAL_RECEIVERS: 'true' };
  program = await startProgram({ ...settingsFor(node.url), ...settings }, { lives: 'file' }).answers();
  await untilServed(program, node);
  await setTier(stores.postgres, { chain: CHAIN, identityAddress: owner.address }, 'pro');
}, 5 * MINUTES);
afterAll(async () => {
  await receiver?.close();
  await node?.stop();
  await stores?.close();
});

interface Shown {
  readonly where: string;
  readonly text: string;
}

/** Every answer, without the members that hand out a secret. */
const shown: Shown[] = [];
const secrets: { readonly name: string; readonly value: string }[] = [];
const asked = new Set<string>();

/** Possible notations of a secret: itself without its public prefix, URL-encoded, Base64 at any offset, hexadecimal. */
function formsOf(handedOut: string): readonly string[] {
  const secret = handedOut.slice(handedOut.lastIndexOf('_') + 1);
  const bytes = Buffer.from(secret);
  // Only the characters that do not depend on the neighbours of a text in the middle of another.
  const inBase64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .slice(offset === 0 ? 0 : 4, -4),
  );
  const inBase64Url = inBase64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
  return [
    secret,
    encodeURIComponent(secret),
    ...inBase64,
    ...inBase64Url,
    bytes.toString('hex'),
    Buffer.from(secret, 'base64').toString('hex'),
  ];
}

interface Sent {
  readonly token?: string;
  readonly body?: unknown;
  /** Member of the answer that hands out a secret once. */
  readonly secret?: string;
}

async function ask(
  method: string,
  route: string,
  path: string,
  { token, body, secret }: Sent = {},
): Promise<LooseJson> {
  asked.add(`${method} ${route}`);
  const answer = await fetch(program.base + path, {
    method,
    headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const json: LooseJson = text.startsWith('{') ? JSON.parse(text) : null;
  const where = `${method} ${path}: ${answer.status}`;
  if (secret === undefined) shown.push({ where, text: `${JSON.stringify([...answer.headers])}\n${text}` });
  else {
    const { [secret]: handedOut, ...rest } = json;
    expect([where, typeof handedOut]).toEqual([where, 'string']);
    secrets.push({ name: `${secret} of ${where}`, value: handedOut });
    shown.push({ where, text: `${JSON.stringify([...answer.headers])}\n${JSON.stringify(rest)}` });
  }
  return json;
}

async function logIn(): Promise<string> {
  const challenge = await ask('POST', '/api/auth/challenge', '/api/auth/challenge', {
    body: { identity: owner.address },
  });
  const signature = await owner.sign(challenge.message);
  const body = { challengeId: challenge.challengeId, signature };
  const { token } = await ask('POST', '/api/auth/login', '/api/auth/login', { body, secret: 'token' });
  await ask('POST', '/api/auth/login', '/api/auth/login', { body }); // the second login is refused
  return token;
}

async function useKeys(token: string): Promise<string> {
  const made = await ask('POST', '/api/keys', '/api/keys', {
    token,
    body: { name: 'bot', creditsPerMinute: 100 },
    secret: 'key',
  });
  await ask('GET', '/api/keys', '/api/keys', { token });
  await ask('GET', '/api/usage', '/api/usage', { token: made.key });
  const path = `/api/keys/${made.id}`;
  const again = await ask('POST', '/api/keys/:id/regenerate', `${path}/regenerate`, { token, secret: 'key' });
  for (const route of ['/api/usage', '/api/usage/now', '/api/usage/csv']) {
    for (const credential of [token, again.key, made.key]) await ask('GET', route, route, { token: credential });
  }
  await ask('POST', '/api/usage/plan', '/api/usage/plan', {
    token,
    body: { calls: [{ path: '/api/', perMinute: 1 }] },
  });
  await ask('GET', '/api/auth/session', '/api/auth/session', { token });
  const other = await ask('POST', '/api/keys', '/api/keys', { token, body: {}, secret: 'key' });
  await ask('DELETE', '/api/keys/:id', `/api/keys/${other.id}`, { token });
  await ask('GET', '/api/usage', '/api/usage', { token: other.key });
  return again.key;
}

async function useWebhooks(token: string): Promise<void> {
  const body = { url: receiver.url, events: ['block'] };
  const hook = await ask('POST', '/api/webhooks', '/api/webhooks', { token, body, secret: 'secret' });
  const [route, path] = ['/api/webhooks/:id', `/api/webhooks/${hook.id}`];
  await ask('PATCH', route, path, { token, body: { rotateSecret: true }, secret: 'secret' });
  await ask('PATCH', route, path, { token, body: { description: 'as before' } });
  await ask('GET', '/api/webhooks', '/api/webhooks', { token });
  await ask('GET', route, path, { token });
  // A receiver that echoes its request and fails.
  receiver.behave((response, { headers }) => void response.writeHead(500).end(JSON.stringify(headers)));
  const { id } = await ask('POST', `${route}/test`, `${path}/test`, { token });
  const delivery = `${path}/deliveries/${id}`;
  const state = async () => (await ask('GET', `${route}/deliveries/:deliveryId`, delivery, { token })).attempts;
  await expect.poll(state, PATIENT).toBeGreaterThan(0);
  receiver.behave(answers(204));
  await ask('POST', `${route}/deliveries/:deliveryId/redrive`, `${delivery}/redrive`, { token });
  await ask('POST', `${route}/redrive`, `${path}/redrive`, { token });
  await ask('GET', `${route}/deliveries`, `${path}/deliveries`, { token });
  await ask('DELETE', route, path, { token });
}

/** Requests that are refused, whose answers and log lines give the reason. */
async function provoke(token: string, key: string): Promise<void> {
  for (const credential of [token, key, `${key}0`, `${key.slice(0, -1)}g`]) {
    await ask('GET', 'none', '/api/no/such/path', { token: credential });
    await ask('POST', '/api/keys', '/api/keys', { token: credential, body: '{"name": ' });
    await ask('POST', '/api/webhooks', '/api/webhooks', {
      token: credential,
      body: { url: 'http://10.0.0.1/', events: ['block'] },
    });
    await ask('GET', '/api/webhooks/:id', '/api/webhooks/0000000000000000', { token: credential });
    await ask('GET', '/api/usage', '/api/usage?step=never', { token: credential });
  }
}

it(
  `the ${OF_ACCOUNT.length} paths of an account hand out each secret once and log none`,
  async () => {
    const token = await logIn();
    const key = await useKeys(token);
    await useWebhooks(key);
    await provoke(token, key);
    await ask('POST', '/api/auth/logout', '/api/auth/logout', { token });
    await ask('GET', '/api/auth/session', '/api/auth/session', { token });
    expect(OF_ACCOUNT.map((route) => `${methodOf(route)} ${route.path}`).filter((name) => !asked.has(name))).toEqual(
      [],
    );
    expect(secrets).toHaveLength(6);
    expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
    const output = program.output();
    expect(output).toContain('"/api/webhooks/:id/redrive"'); // the program does log each request
    for (const { id, body, headers } of receiver.received)
      shown.push({ where: id, text: body + JSON.stringify(headers) });
    shown.push({ where: 'the log', text: output });
    for (const { name, value } of secrets) {
      const forms = formsOf(value);
      const found = shown.filter(({ text }) => forms.some((form) => text.includes(form))).map(({ where }) => where);
      expect([name, found]).toEqual([name, []]);
    }
  },
  5 * MINUTES,
);
