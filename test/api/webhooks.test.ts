/** Webhooks of a running service: events of the recorded chain and its reorganisation, at receivers of every kind. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { setTier } from '../../api/access/key-store.ts';
import { answers, hangs, type Receiver, startReceiver } from '../support/api/webhooks/receiver.ts';
import { schemaFaults } from './client.ts';
import { currentPrices } from './current-prices.ts';
import { receivedMessages as messages } from './received-messages.ts';
import { renameCurrency } from './rename-currency.ts';
import { ALICE, CHAIN, type RunningService, startService } from './running-service.ts';
import type { LooseJson } from './truth.ts';

const FORK = 845;
/** Blocks of the abandoned branch that receivers are sent. */
const REMOVED = 4;
const CONFIRMATIONS = 6;
const DELAYS_MS = [100, 200, 300];
const LONG = { timeout: 60_000, interval: 50 };
let service: RunningService;
let key: string;
const receivers: Receiver[] = [];

beforeAll(async () => {
  service = await startService({ startHeight: FORK - 30, webhooks: { delaysMs: DELAYS_MS } });
  await service.settled();
  key = await service.issueKey('pro');
}, 300_000);
afterEach(async () => {
  for (const { id } of (await ask('GET', '/api/webhooks')).body.webhooks) await ask('DELETE', `/api/webhooks/${id}`);
  for (const receiver of receivers.splice(0)) await receiver.close();
});
afterAll(() => service?.stop());

async function ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: LooseJson }> {
  const response = await fetch(`${service.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${key}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const answer: LooseJson = text === '' ? null : JSON.parse(text);
  if (response.status < 300 && method === 'GET') expect(schemaFaults(path.split('?')[0] ?? '', answer)).toBeNull();
  return { status: response.status, body: answer };
}

async function receiver(behaviour = answers(204)): Promise<Receiver> {
  const made = await startReceiver(behaviour);
  receivers.push(made);
  return made;
}

async function register(at: Receiver, asked: Record<string, unknown> = {}): Promise<LooseJson> {
  const { status, body } = await ask('POST', '/api/webhooks', { url: at.url, events: ['block'], ...asked });
  expect([status, body.code]).toEqual([201, undefined]);
  return body;
}

async function step(count = 1): Promise<void> {
  for (let made = 0; made < count; made++) {
    service.node.step();
    await service.settled();
  }
}

/** All deliveries, page by page. */
const deliveries = async (id: string, before = ''): Promise<LooseJson[]> => {
  const { body } = await ask('GET', `/api/webhooks/${id}/deliveries?limit=3${before && `&before=${before}`}`);
  return [...body.results, ...(body.nextBefore === null ? [] : await deliveries(id, body.nextBefore))];
};

/** Waits until no delivery is pending. */
const settledDeliveries = async (id: string): Promise<LooseJson[]> => {
  await expect.poll(async () => (await deliveries(id)).filter(({ state }) => state === 'pending'), LONG).toEqual([]);
  return deliveries(id);
};

describe('registration', () => {
  it.each([
    ['receiver_refused', { url: 'https://10.0.0.1/' }, undefined],
    ['receiver_refused', { url: 'http://10.0.0.1/' }, undefined],
    ['invalid_parameter', { events: [] }, '/events'],
    ['invalid_parameter', { events: ['nosuch'] }, '/events/0'],
    ['invalid_parameter', { chains: ['nochain'] }, '/chains'],
    ['invalid_parameter', { events: ['address.activity'] }, '/filter/address'],
    ['invalid_parameter', { events: ['price.threshold'] }, '/thresholds'],
    ['invalid_parameter', { thresholds: [{ currency: 'VRSCTEST', usd: 1 }] }, '/thresholds'],
    ['invalid_parameter', { events: ['price.threshold'], thresholds: [{ currency: '::', usd: 1 }] }, '/thresholds'],
    ['invalid_parameter', { events: ['price.threshold'], thresholds: [{ currency: 'nosuch', usd: 1 }] }, '/thresholds'],
    ['invalid_parameter', { confirmations: -1 }, '/confirmations'],
    ['invalid_parameter', { colour: 'red' }, ''],
  ])('%s for %j, at %j', async (code, asked, at) => {
    const answer = await ask('POST', '/api/webhooks', {
      url: 'https://receiver.example/',
      events: ['block'],
      ...asked,
    });
    expect(answer).toMatchObject({ status: 400, body: { code } });
    expect(answer.body.errors?.[0].pointer).toBe(at);
  });

  it('shows the secret once, lists, changes, rotates, deletes', async () => {
    const made = await register(await receiver(), { description: 'mine', filter: { currency: 'VRSCTEST' } });
    expect(made.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const { secret, ...shown } = made;
    expect((await ask('GET', '/api/webhooks')).body.webhooks).toEqual([shown]);
    const path = `/api/webhooks/${made.id}`;
    const changed = await ask('PATCH', path, { events: ['reorg'], enabled: false });
    expect(changed.body).toEqual({
      ...shown,
      events: ['reorg'],
      enabled: false,
      disabledReason: 'owner',
      secret: null,
    });
    const rotated = await ask('PATCH', path, { rotateSecret: true });
    expect(rotated.body.secret).not.toBe(secret);
    expect(Date.parse(rotated.body.oldSecretEndsAt) - Date.now()).toBeGreaterThan(23 * 3_600_000);
    expect((await ask('DELETE', path)).status).toBe(204);
    expect((await ask('GET', path)).body).toMatchObject({ code: 'not_found' });
  });

  it('belongs to its identity, needs the highest tier, and is limited to twenty', async () => {
    const { id } = await register(await receiver());
    await service.stores.postgres.pool.query(`UPDATE webhooks SET identity_address = 'iSomebodyElse' WHERE id = $1`, [
      id,
    ]);
    for (const [method, end] of [
      ['GET', ''],
      ['DELETE', ''],
      ['PATCH', ''],
      ['POST', '/test'],
      ['GET', '/deliveries'],
      ['POST', `/deliveries/msg_${'0'.repeat(32)}/redrive`],
    ] as const) {
      const body = method === 'PATCH' ? {} : undefined;
      expect(await ask(method, `/api/webhooks/${id}${end}`, body)).toMatchObject({ status: 404 });
    }
    await service.stores.postgres.pool.query('DELETE FROM webhooks WHERE id = $1', [id]);
    const at = await receiver();
    for (let made = 0; made < 20; made++) await register(at);
    const request = { url: at.url, events: ['block'] };
    expect((await ask('POST', '/api/webhooks', request)).body).toMatchObject({ code: 'too_many_webhooks' });
    await setTier(service.stores.postgres, { chain: CHAIN, identityAddress: ALICE }, 'developer');
    await expect
      .poll(() => ask('GET', '/api/webhooks'), LONG)
      .toMatchObject({ status: 403, body: { code: 'tier_required' } });
    await setTier(service.stores.postgres, { chain: CHAIN, identityAddress: ALICE }, 'pro');
    await expect.poll(async () => (await ask('GET', '/api/webhooks')).status, LONG).toBe(200);
  });
});

describe('receivers', () => {
  it('get a test message, and both signatures while the secret is rotated', async () => {
    const at = await receiver();
    const { id, secret } = await register(at, { events: ['reorg'] });
    const sent = await ask('POST', `/api/webhooks/${id}/test`);
    expect(sent.status).toBe(201);
    expect(schemaFaults('/api/webhooks/x/test', sent.body)).toBeNull();
    await expect.poll(() => at.received.length, LONG).toBe(1);
    expect(messages(at, secret)).toEqual([
      { id: sent.body.id, type: 'test', timestamp: expect.any(String), data: { webhookId: id } },
    ]);
    const { body } = await ask('PATCH', `/api/webhooks/${id}`, { rotateSecret: true });
    await ask('POST', `/api/webhooks/${id}/test`);
    await expect.poll(() => at.received.length, LONG).toBe(2);
    expect(messages(at, secret).slice(1)).toEqual(messages({ ...at, received: at.received.slice(1) }, body.secret));
    expect(await settledDeliveries(id)).toMatchObject([{ state: 'delivered', attempts: 1, status: 204 }, {}]);
    // A receiver with nothing due has no turn.
    const open = `SELECT id FROM webhook_queue.job WHERE name = 'receivers' AND state < 'completed'`;
    const turns = async () => (await service.stores.postgres.pool.query(open)).rows;
    await expect.poll(turns, LONG).toEqual([]);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect(await turns()).toEqual([]);
  });

  it('that fail are tried again as scheduled, with the same id and body, then no more; redrive tries again', async () => {
    const at = await receiver(answers(500));
    const { id, secret } = await register(at, { events: ['reorg'] });
    await ask('POST', `/api/webhooks/${id}/test`);
    const [failed] = await settledDeliveries(id);
    expect(failed).toMatchObject({
      state: 'failed',
      attempts: DELAYS_MS.length + 1,
      status: 500,
      error: 'answered 500',
    });
    expect(new Set(at.received.map((one) => `${one.id} ${one.body}`)).size).toBe(1);
    expect(at.received.length).toBe(DELAYS_MS.length + 1);
    for (const [index, delay] of DELAYS_MS.entries()) {
      expect((at.received[index + 1]?.at ?? 0) - (at.received[index]?.at ?? 0)).toBeGreaterThanOrEqual(delay * 0.9);
    }
    expect((await ask('GET', `/api/webhooks/${id}`)).body.failingSince).not.toBeNull();
    at.behave(answers(200));
    expect((await ask('POST', `/api/webhooks/${id}/deliveries/${failed.id}/redrive`)).status).toBe(200);
    await expect.poll(() => deliveries(id), LONG).toMatchObject([{ state: 'delivered', attempts: 1, error: null }]);
    expect(messages(at, secret).at(-1)?.id).toBe(failed.id);
    expect((await ask('GET', `/api/webhooks/${id}`)).body.failingSince).toBeNull();
  });

  it('are listed with every delivery, page by page', async () => {
    const { id } = await register(await receiver());
    for (let sent = 0; sent < 4; sent++) await ask('POST', `/api/webhooks/${id}/test`);
    const whole = await settledDeliveries(id);
    const rows = [];
    for (let before: string | null = ''; before !== null; ) {
      const { body } = await ask('GET', `/api/webhooks/${id}/deliveries?limit=2${before && `&before=${before}`}`);
      rows.push(...body.results);
      before = body.nextBefore;
    }
    expect([rows.length, rows]).toEqual([4, whole]);
  });

  it('that hang delay no other receiver, even if there are more of them than places', async () => {
    const hanging = await receiver(hangs);
    const { id: first } = await register(hanging);
    const at = await receiver();
    const { id, secret } = await register(at);
    const { pool } = service.stores.postgres;
    const columns = 'chain, identity_address, url, description, asked, confirmations, secret, since';
    await pool.query(
      `INSERT INTO webhooks (id, ${columns}) SELECT left(md5(n::text), 16), ${columns}
       FROM webhooks, generate_series(1, 149) n WHERE id = $1`,
      [first],
    );
    await step(5);
    const heights = Array.from({ length: 5 }, (_, index) => service.node.height - 4 + index);
    await expect.poll(() => messages(at, secret).map(({ data }) => data.height), LONG).toEqual(heights);
    const untried = `SELECT FROM webhook_deliveries WHERE webhook_id <> $1 AND attempts = 0`;
    expect((await pool.query(untried, [id])).rowCount).toBeGreaterThan(0);
    await expect.poll(() => hanging.mostAtOnce, LONG).toBe(64);
  });

  it('that answer 410 are sent nothing more until they are enabled', async () => {
    const at = await receiver(answers(410));
    const { id, secret } = await register(at);
    await ask('POST', `/api/webhooks/${id}/test`);
    await expect
      .poll(() => ask('GET', `/api/webhooks/${id}`), LONG)
      .toMatchObject({ body: { enabled: false, disabledReason: 'gone' } });
    await step(2);
    expect(at.received.length).toBe(1);
    at.behave(answers(204));
    expect((await ask('PATCH', `/api/webhooks/${id}`, { enabled: true })).body).toMatchObject({ disabledReason: null });
    await expect.poll(() => messages(at, secret).map(({ type }) => type), LONG).toEqual(['test', 'test']);
    await step();
    await expect.poll(() => messages(at, secret).at(-1)?.data.height, LONG).toBe(service.node.height);
  });

  it('that answer 429 are sent nothing for as long as they ask for', async () => {
    const at = await receiver(answers(429, { 'retry-after': '3' }));
    const { id } = await register(at);
    await ask('POST', `/api/webhooks/${id}/test`);
    await expect.poll(() => at.received.length, LONG).toBe(1);
    at.behave(answers(204));
    await ask('POST', `/api/webhooks/${id}/test`);
    await expect.poll(() => at.received.length, LONG).toBe(3);
    const [first, second] = at.received;
    expect((second?.at ?? 0) - (first?.at ?? 0)).toBeGreaterThan(2_900);
  });

  it('that accept nothing for five days are disabled when a message has failed for the last time', async () => {
    const at = await receiver(answers(500));
    const { id } = await register(at);
    await service.stores.postgres.pool.query(`UPDATE webhooks SET failing_since = now() - interval '121 hours'`);
    await ask('POST', `/api/webhooks/${id}/test`);
    await expect
      .poll(() => ask('GET', `/api/webhooks/${id}`), LONG)
      .toMatchObject({ body: { enabled: false, disabledReason: 'failing' } });
    expect(at.received.length).toBe(DELAYS_MS.length + 1);
  });

  it('get each message once from several processes, one at a time', async () => {
    const beside = await service.startSecondApi();
    const at = await receiver(async (response) => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      response.writeHead(204).end();
    });
    const { id } = await register(at, { events: ['reorg'] });
    const sent = new Set<string>();
    for (let test = 0; test < 60; test++) sent.add((await ask('POST', `/api/webhooks/${id}/test`)).body.id);
    expect((await settledDeliveries(id)).length).toBe(60);
    await beside.close();
    expect(at.received.map((one) => one.id).sort()).toEqual([...sent].sort());
    expect(at.mostAtOnce).toBe(1);
  });
});

describe('events', () => {
  it('are sent as the chain moves; a reorganisation reverts sent messages, and held ones are never sent', async () => {
    const [receiving, later, rest, values] = [await receiver(), await receiver(), await receiver(), await receiver()];
    const hook = await register(receiving, { events: ['block', 'reorg'] });
    const confirmed = await register(later, { confirmations: CONFIRMATIONS });
    const others = await register(rest, {
      events: ['address.activity', 'identity.updated', 'conversion.completed'],
      filter: { address: ['alice@', 'bob@', 'carol@'] },
    });
    const valued = await register(values, { events: ['conversion.completed'], filter: { minUsd: 0 } });
    const first = service.node.height + 1;
    const { node } = service;
    node.branch('orphan', node.fork + REMOVED);
    await service.settled();
    node.branch('main', node.fork + REMOVED + CONFIRMATIONS);
    await service.settled();
    const { rows } = await service.stores.postgres.pool.query<{ height: number; hash: string }>(
      'SELECT height, hash FROM blocks WHERE chain = $1 AND height >= $2 ORDER BY height',
      [CHAIN, first],
    );
    const count = rows.length;

    // A receiver that applies each message holds the chain.
    const standing = async () => {
      const held = new Map<string, LooseJson>();
      for (const message of messages(receiving, hook.secret)) {
        if (message.type === 'block') held.set(message.id, message);
        if (message.type === 'block.reverted') expect(held.delete(message.reverts)).toBe(true);
      }
      return [...held.values()].map(({ data }) => ({ height: data.height, hash: data.hash }));
    };
    await expect.poll(standing, LONG).toEqual(rows);
    const all = messages(receiving, hook.secret);
    const byType = (type: string) => all.filter((message) => message.type === type);
    expect(byType('reorg').map(({ data }) => data)).toMatchObject([
      { reason: 'reorg', fromHeight: node.fork + REMOVED, toHeight: node.fork },
    ]);
    expect(byType('block.reverted').map(({ data }) => data.height)).toEqual(
      Array.from({ length: REMOVED }, (_, index) => node.fork + REMOVED - index),
    );
    expect(byType('block').length).toBe(count + REMOVED);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    for (const { timestamp, data } of byType('block')) expect(Date.parse(timestamp)).toBe(data.time * 1000);

    const final = rows.slice(0, count - CONFIRMATIONS);
    await expect
      .poll(() => messages(later, confirmed.secret).map(({ data: { height, hash } }) => ({ height, hash })), LONG)
      .toEqual(final);
    expect((await deliveries(confirmed.id)).filter(({ state }) => state === 'held').length).toBe(CONFIRMATIONS);

    await service.settled(true);
    const { rows: worth } = await service.stores.postgres.pool.query<{ key: string }>(
      `SELECT encode(txid, 'hex') || ' ' || usd_value::float8 AS key FROM stamps WHERE price_height >= $1 AND usd_value IS NOT NULL`,
      [first],
    );
    expect(worth.length).toBeGreaterThan(0);
    const worthPublishing = () => {
      const held = new Map<string, string>();
      for (const { id, type, reverts, data } of messages(values, valued.secret)) {
        if (type === 'conversion.completed') held.set(id, `${data.txid} ${data.usdValue}`);
        else expect([type, held.delete(reverts)]).toEqual(['conversion.completed.reverted', true]);
      }
      return [...held.values()].sort();
    };
    await expect.poll(worthPublishing, LONG).toEqual(worth.map(({ key }) => key).sort());

    await settledDeliveries(others.id);
    const kinds = new Set(messages(rest, others.secret).map(({ type }) => type));
    expect(kinds).toContain('address.activity');
    const wanted = /^(address\.activity|identity\.updated|conversion\.completed)(\.reverted)?$/;
    expect([...kinds].filter((kind) => !wanted.test(kind))).toEqual([]);
  });

  it('report prices that cross a threshold', async () => {
    const { node, stores } = service;
    const renamed = 'iF3tRmjJZeTCVeAcLGjJEY9fuiNxwcu7kN'; // xeth
    await renameCurrency(service, renamed, 'Dollar.vETH'); // named without its suffix below
    await step();
    await service.settled(true);
    // Thresholds on both sides of each current price: a price that moves crosses one.
    const thresholds = [...(await currentPrices(service.url))]
      .filter(([, usd]) => usd !== 1)
      .flatMap(([currency, usd]) => [1 - 1e-9, 1 + 1e-9].map((factor) => ({ currency, usd: usd * factor })));
    const asked = thresholds.map((one) => (one.currency === renamed ? { ...one, currency: 'dollar' } : one));
    expect(asked).not.toEqual(thresholds);
    const at = await receiver();
    const { id, secret } = await register(at, { events: ['price.threshold'], thresholds: asked });
    const looked = 'SELECT FROM webhook_price_sides WHERE webhook_id = $1';
    await expect
      .poll(async () => (await stores.postgres.pool.query(looked, [id])).rowCount, LONG)
      .toBe(thresholds.length);
    for (const further of [10, 20, 40]) {
      node.branch('main', node.height + further);
      await service.settled(true);
    }
    const receiving = () =>
      new Map<string, string>(
        messages(at, secret).map(({ data }) => [`${data.currencyId} ${data.usd}`, data.direction]),
      );
    const side = (price: number, usd: number) => (price >= usd ? 'above' : 'below');
    const wrong = async () => {
      const now = await currentPrices(service.url);
      return thresholds.filter(({ currency, usd }, index) => {
        const stood = receiving().get(`${currency} ${usd}`) ?? (index % 2 === 0 ? 'above' : 'below');
        return stood !== side(now.get(currency) ?? 0, usd);
      });
    };
    // As long as the API serves the earlier prices, nothing is sent and nothing is wrong.
    await expect
      .poll(async () => ({ isPublished: receiving().size > 0, wrong: await wrong() }), LONG)
      .toEqual({ isPublished: true, wrong: [] });
  });
});
