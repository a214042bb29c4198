/**
 * /api/stats/status and /api/stats/network report what a daemon answered last, and when; they wait for no daemon. JSON-RPC reads the height
 * of the chain from the daemon while the index is far behind it, and sends no call to a daemon of another chain.
 */

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type RunningApi, startApi } from '../../api/server.ts';
import { createTopicReader } from '../../infra/event-log/topic-reader.ts';
import { createVerusdClient, type VerusdClient } from '../../infra/verusd/verusd-client.ts';
import { type DaemonFault, type ScriptedDaemon, startScriptedDaemon } from '../support/infra/verusd/scripted-daemon.ts';
import { CHAIN, type RunningService, startService } from './running-service.ts';

/** Time limit of calls to the daemon. */
const GIVEN_UP_MS = 600_000;
const HANG: DaemonFault = { kind: 'delay', ms: GIVEN_UP_MS };
/** Less than the time limit of calls. */
const AT_ONCE_MS = 60_000;

let service: RunningService;
let daemon: ScriptedDaemon;
let client: VerusdClient;
let api: RunningApi;
const stop = new AbortController();
let connections = 8;

beforeAll(async () => {
  service = await startService({ startHeight: 200 });
  await service.settled();
  daemon = await startScriptedDaemon({
    methods: {
      getmininginfo: () => ({ difficulty: 5.5, networkhashps: 1000, stakingsupply: 12.5 }),
      getinfo: () => ({ connections }),
    },
  });
  daemon.fault = () => HANG;
  const { logger } = service.context;
  client = createVerusdClient({ rpc: daemon.rpc, chain: CHAIN, logger, timeoutMs: GIVEN_UP_MS });
  const daemons = new Map([[CHAIN, client]]);
  api = await startApi({
    ...service.context,
    topics: createTopicReader(service.context.log),
    release: 'test',
    daemons,
    signal: stop.signal,
  });
});
afterAll(async () => {
  stop.abort();
  await api?.close();
  await client?.close();
  await daemon?.stop();
  await service?.stop();
});

interface ChainFigures {
  readonly difficulty: number | null;
  readonly connections: number | null;
  readonly figuresAt: string | null;
}

async function ask(path: string): Promise<unknown> {
  const url = `http://127.0.0.1:${api.port}${path}`;
  return (await fetch(url, { signal: AbortSignal.timeout(AT_ONCE_MS) })).json();
}

async function figures(): Promise<ChainFigures> {
  const { chains } = (await ask('/api/stats/status')) as { chains: Record<string, ChainFigures> };
  const { difficulty, connections, figuresAt } = chains[CHAIN] as ChainFigures;
  return { difficulty, connections, figuresAt };
}

/** The figures that both paths have. */
async function networkFigures(): Promise<Pick<ChainFigures, 'difficulty' | 'figuresAt'>> {
  const { difficulty, figuresAt } = (await ask('/api/stats/network')) as ChainFigures;
  return { difficulty, figuresAt };
}

it('answers at once while a daemon hangs: with nulls before it has answered, then with what it answered last', async () => {
  const nothing = { difficulty: null, connections: null, figuresAt: null };
  expect(await figures()).toEqual(nothing);
  expect(await figures()).toEqual(nothing);
  expect(await networkFigures()).toEqual({ difficulty: null, figuresAt: null });

  daemon.fault = () => null;
  await expect.poll(figures, { timeout: 30_000 }).toMatchObject({ difficulty: 5.5, connections: 8 });
  const said = await figures();
  const { difficulty, figuresAt } = said;
  expect(await networkFigures(), 'under an ETag that has moved with the figures').toEqual({ difficulty, figuresAt });
  expect(Date.now() - Date.parse(said.figuresAt ?? '')).toBeLessThan(60_000);

  // A block arrives while the daemon hangs.
  daemon.fault = () => HANG;
  connections = 9;
  service.node.advanceTo(service.node.height + 1);
  await service.settled();
  expect(await figures()).toEqual(said);
  expect(await figures()).toEqual(said);
  expect(await networkFigures()).toEqual({ difficulty, figuresAt });

  daemon.fault = () => null;
  await expect.poll(figures, { timeout: 30_000 }).toMatchObject({ connections: 9 });
  expect(Date.parse((await figures()).figuresAt ?? '')).toBeGreaterThan(Date.parse(said.figuresAt ?? ''));
});

it('the height over JSON-RPC is the one of the daemon while the index is far behind it', async () => {
  const body = '{"id":1,"method":"getblockcount"}';
  const height = async () => {
    const answer = await fetch(`http://127.0.0.1:${api.port}/`, { method: 'POST', body });
    return ((await answer.json()) as { result: number }).result;
  };
  const SQL = `UPDATE stage_status SET status = status || jsonb_build_object('targetHeight', $1::int) WHERE stage = 'tail'`;
  /** Writes again at each try, since the tailer writes its row too. */
  const heightOnceReported = (targetHeight: number) => async () => {
    await service.stores.postgres.pool.query(SQL, [targetHeight]);
    return height();
  };
  daemon.fault = () => null;
  daemon.tree.extend(3);
  const ofDaemon = daemon.tree.tip().height;
  expect(ofDaemon).not.toBe(service.node.height);
  expect(await height()).toBe(service.node.height);
  await expect.poll(heightOnceReported(service.node.height + 6), { timeout: 30_000 }).toBe(ofDaemon);
  await expect.poll(heightOnceReported(service.node.height + 5), { timeout: 30_000 }).toBe(service.node.height);
});

it('a daemon that is known to serve another chain gets no call, neither over JSON-RPC nor from REST', async () => {
  const asked = async () => {
    const url = `http://127.0.0.1:${api.port}/`;
    const body = '{"id":1,"method":"getmininginfo"}';
    return ((await (await fetch(url, { method: 'POST', body })).json()) as { error: { code: number } | null }).error;
  };
  const raw = async () => (await fetch(`http://127.0.0.1:${api.port}/api/blocks/1/raw`)).status;
  const report = (code: string | null) => {
    const status = { daemons: [{ height: 5, peersHeight: 5, fault: code && { code, message: '' } }] };
    const sql = `INSERT INTO stage_status VALUES ('daemons', $1, $2, now())
      ON CONFLICT (stage, chain) DO UPDATE SET status = EXCLUDED.status, updated_at = now()`;
    return service.stores.postgres.pool.query(sql, [CHAIN, status]);
  };
  daemon.fault = () => null;
  const once = (code: string | null) => async () => {
    await report(code);
    return (await asked())?.code ?? null;
  };
  await expect.poll(once(null), { timeout: 30_000 }).toBe(null);
  await expect.poll(once('wrong_chain'), { timeout: 30_000 }).toBe(-32603);
  const before = daemon.calls.length;
  expect(await asked()).toMatchObject({ code: -32603 });
  expect(await raw()).toBe(502);
  expect(daemon.calls).toHaveLength(before);
  await expect.poll(once(null), { timeout: 30_000 }).toBe(null);
});
