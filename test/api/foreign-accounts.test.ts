/**
 * Requests of others to the paths of an account: another identity of the same chain, and the one with the same i-address on another
 * chain, by session and by key. Whatever they request, in whatever order, they see nothing of its owner and change nothing.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createKey, type KeyOwner, setTier } from '../../api/access/key-store.ts';
import { openSession } from '../../api/access/sessions.ts';
import { methodOf, type Route } from '../../api/http/route.ts';
import { routeTable } from '../../api/rest/route-table.ts';
import { storeIdentity } from '../support/api/access/store-identity.ts';
import { ALICE, CHAIN, type RunningService, startService } from './running-service.ts';
import type { LooseJson } from './truth.ts';

const OTHER_CHAIN = 'other';
const OWNER = { chain: CHAIN, identityAddress: ALICE };
const RUNS = Number(process.env.ACCOUNT_RUNS ?? 6);
const UNTIL_WRITTEN = { timeout: 60_000, interval: 250 };
const READ = '/api/market/protocol';
/** Paths that belong to no account. Every other path is one of an account, also one that is added later. */
const OF_NOBODY =
  /^\/(metrics|api\/?$|api\/(address|asyncapi\.json|blocks|bridge|conversions|currency|datasets|docs|errors|health|identity|market|mempool|names|openapi\.json|oracle|reorgs|richlist|search|stakes|stats|tickers|tx)(\/|$))/;
/** Paths before a login, which `test/api/login.test.ts` tests. The plan of calls needs no login and names no account. */
const BEFORE_LOGIN = ['/api/auth/challenge', '/api/auth/login', '/api/usage/plan'];
const OF_ACCOUNT = routeTable.filter(({ path }) => !OF_NOBODY.test(path) && !BEFORE_LOGIN.includes(path));

/** Ids in a path: those of the owner, or of the requester. */
interface Things {
  readonly key: string;
  readonly webhook: string;
  readonly delivery: string;
}

interface Holder {
  readonly holder: KeyOwner;
  readonly session: string;
  readonly key: string;
  readonly things: Things;
}

let service: RunningService;
let alice: Holder & { readonly secrets: readonly string[] };
let others: readonly KeyOwner[];
beforeAll(async () => {
  service = await startService({ startHeight: 300, silentChains: [OTHER_CHAIN] });
  await service.settled();
  const { postgres } = service.stores;
  const { rows } = await postgres.pool.query<{ address: string }>(
    `SELECT identity_address AS address FROM identities
      WHERE chain = $1 AND identity_address <> $2 AND to_height IS NULL AND flags = 0 ORDER BY 1 LIMIT 1`,
    [CHAIN, ALICE],
  );
  await storeIdentity(postgres, { chain: OTHER_CHAIN, identityAddress: ALICE, flags: 0 });
  others = [
    { chain: CHAIN, identityAddress: rows[0]?.address ?? '' },
    { chain: OTHER_CHAIN, identityAddress: ALICE },
  ];
  for (const holder of [OWNER, ...others]) await setTier(postgres, holder, 'pro');
  const { secret, ...made } = await createHolder(OWNER, 'alice');
  alice = { ...made, secrets: [secret, made.key.slice(-64), made.session] };
}, 600_000);
afterAll(() => service?.stop());

interface Sent {
  readonly method?: string;
  readonly body?: unknown;
}

async function ask(token: string, path: string, { method = 'GET', body }: Sent = {}) {
  const answer = await fetch(service.url + path, {
    method,
    headers: { authorization: `Bearer ${token}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, text: await answer.text() };
}

const idOfDelivery = (webhook: string) => `msg_${webhook.repeat(2)}`;

/** A holder with a key, a webhook and a failed delivery, all of which contain `mark`. */
async function createHolder(holder: KeyOwner, mark: string): Promise<Holder & { readonly secret: string }> {
  const { postgres } = service.stores;
  const session = (await openSession(postgres, holder)).token;
  const made = await createKey(postgres, holder, `of ${mark}`, 5_000);
  if (!made) throw new Error('no more keys');
  const url = `https://hooks.example/${mark}`;
  const hook: LooseJson = JSON.parse(
    (await ask(session, '/api/webhooks', { method: 'POST', body: { url, events: ['block'] } })).text,
  );
  const delivery = idOfDelivery(hook.id);
  await postgres.pool.query(
    `INSERT INTO webhook_deliveries (id, webhook_id, kind, body, state, answer) VALUES ($1, $2, 'test', $3, 'failed', $4)`,
    [delivery, hook.id, JSON.stringify({ of: mark }), `for ${mark}`],
  );
  return {
    holder,
    session,
    key: made.key,
    things: { key: made.row.id, webhook: hook.id, delivery },
    secret: hook.secret,
  };
}

async function remove({ holder }: Holder): Promise<void> {
  const { pool } = service.stores.postgres;
  const of = [holder.chain, holder.identityAddress];
  await pool.query('DELETE FROM webhooks WHERE chain = $1 AND identity_address = $2', of);
  for (const table of ['api_keys', 'sessions']) {
    await pool.query(`DELETE FROM ${table} WHERE chain = $1 AND identity_address = $2`, of);
  }
}

/** All rows of the owner, in every table whose rows have an owner. */
async function heldByOwner(): Promise<unknown> {
  const { pool } = service.stores.postgres;
  const { rows: tables } = await pool.query<{ name: string }>(
    `SELECT t.table_name AS name FROM information_schema.tables t WHERE t.table_schema = 'public'
      AND t.table_type = 'BASE TABLE' AND t.table_name <> 'identities' AND 2 = (SELECT count(*) FROM information_schema.columns c
        WHERE c.table_name = t.table_name AND c.table_schema = 'public' AND c.column_name IN ('chain', 'identity_address'))
      ORDER BY 1`,
  );
  const names = tables.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining(['account_usage', 'api_keys', 'sessions', 'webhooks']));
  const held: Record<string, unknown> = {};
  for (const name of names) {
    const sql = `SELECT t::text AS row FROM ${name} t WHERE chain = $1 AND identity_address = $2 ORDER BY 1`;
    held[name] = (await pool.query(sql, [CHAIN, ALICE])).rows;
  }
  const sql = 'SELECT t::text AS row FROM webhook_deliveries t WHERE webhook_id = $1 ORDER BY 1';
  held.webhook_deliveries = (await pool.query(sql, [alice.things.webhook])).rows;
  return held;
}

type Target = 'owner' | 'self';

interface Request {
  readonly route: Route;
  /** Whose ids it contains. */
  readonly target: Target;
  readonly by: 'session' | 'key';
  readonly body: unknown;
}

/** Bodies that a path accepts, by method and path. */
const BODIES: Readonly<Record<string, readonly unknown[]>> = {
  'POST /api/keys': [{}, { name: 'taken', creditsPerMinute: 3 }],
  'POST /api/webhooks': [{ url: 'https://hooks.example/taken', events: ['block', 'reorg'] }],
  'PATCH /api/webhooks/:id': [
    { url: 'https://hooks.example/taken', description: 'taken' },
    { enabled: false },
    { enabled: true },
    { rotateSecret: true },
    { events: ['price.threshold'], thresholds: [{ currency: 'VRSCTEST', usd: 1 }] },
  ],
};

function bodiesOf(route: Route): readonly unknown[] {
  const name = `${methodOf(route)} ${route.path}`;
  if (!('body' in route) || route.body === undefined) return [undefined];
  const bodies = BODIES[name];
  if (!bodies) throw new Error(`${name} takes a body: say in BODIES what a stranger would send`);
  return bodies;
}

function addressOf(route: Route, things: Things): readonly string[] {
  const path = route.path.replace(/:\w+/g, (parameter) => {
    if (parameter === ':deliveryId') return things.delivery;
    if (parameter === ':id' && route.path.startsWith('/api/keys/')) return things.key;
    if (parameter === ':id' && route.path.startsWith('/api/webhooks/')) return things.webhook;
    throw new Error(`${route.path}: say what ${parameter} of the owner is`);
  });
  const queries = Object.keys(route.parameters ?? {}).flatMap((name) => {
    if (name === 'key') return [`?key=${things.key}`];
    return name === 'before' ? [`?before=${things.delivery}`] : [];
  });
  return [path, ...queries.map((query) => path + query)];
}

const ENDS_SESSION = '/api/auth/logout';
const REQUESTS: readonly Request[] = OF_ACCOUNT.filter(({ path }) => path !== ENDS_SESSION).flatMap((route) =>
  bodiesOf(route).flatMap((body) =>
    (['owner', 'self'] as const).flatMap((target) =>
      (['session', 'key'] as const).map((by): Request => ({ route, target, by, body })),
    ),
  ),
);

/** Requests that end a key or a webhook of the stranger come last, so that all others find them. */
const ends = ({ route }: Request) => methodOf(route) === 'DELETE' || route.path.endsWith('/regenerate');
const IN_GOOD_ORDER = [...REQUESTS.filter((request) => !ends(request)), ...REQUESTS.filter(ends)];

const accepted = new Set<string>();
const nameOf = ({ route, target }: Request) => `${methodOf(route)} ${route.path} of ${target}`;
const byName = new Map(
  IN_GOOD_ORDER.map((request) => [
    `${nameOf(request)} by ${request.by} ${JSON.stringify(request.body) ?? ''}`,
    request,
  ]),
);
const NAMES = [...byName.keys()];

async function send(stranger: Holder, request: Request): Promise<void> {
  const { route, target, by, body } = request;
  const method = methodOf(route);
  for (const path of addressOf(route, target === 'owner' ? alice.things : stranger.things)) {
    const { status, text } = await ask(by === 'session' ? stranger.session : stranger.key, path, { method, body });
    const said = `${method} ${path} by ${by}`;
    expect([said, status < 500]).toEqual([said, true]);
    if (status < 300) accepted.add(nameOf(request));
    if (target === 'owner' && route.path.includes(':')) expect([said, status >= 400]).toEqual([said, true]);
    // A refusal contains the id that was sent.
    const { key, webhook, delivery } = alice.things;
    const ids = status < 300 ? [key, webhook, delivery] : [];
    const shown = [...alice.secrets, 'alice', ...ids].filter((mark) => text.includes(mark));
    // The i-address is not secret: it is the stranger's own, too. Its name on the other chain differs.
    expect([said, shown]).toEqual([said, []]);
  }
}

it(`${REQUESTS.length} requests to ${OF_ACCOUNT.length} paths of an account, in any order, show and change nothing of another identity`, async () => {
  await ask(alice.key, READ);
  await expect
    .poll(async () => (await ask(alice.session, '/api/usage')).text, UNTIL_WRITTEN)
    .toContain(alice.things.key);
  await fc.assert(
    fc.asyncProperty(fc.nat(1), fc.shuffledSubarray(NAMES), async (who, names) => {
      const holder = others[who];
      if (!holder) throw new Error('there are two others');
      const before = await heldByOwner();
      const stranger = await createHolder(holder, 'stranger');
      for (const name of names) await send(stranger, byName.get(name) as Request);
      await ask(stranger.session, ENDS_SESSION, { method: 'POST' });
      await remove(stranger);
      expect(await heldByOwner()).toEqual(before);
    }),
    { numRuns: RUNS, examples: [0, 1].map((who) => [who, NAMES]) },
  );
  // The requests are well formed: the same requests succeed on what the stranger has.
  const own = REQUESTS.filter(({ target }) => target === 'self').map(nameOf);
  expect([...new Set(own)].filter((name) => !accepted.has(name))).toEqual([]);
  expect((await ask(alice.session, '/api/auth/session')).status).toBe(200);
  expect((await ask(alice.key, READ)).status).toBe(200);
});
