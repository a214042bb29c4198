/** Both stores as separate servers that can fail in each way a server fails; each keeps one address across restarts. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { parse } from 'pg-connection-string';
import { pino } from 'pino';
import { startEmbeddedPostgres } from '../../infra/postgres/embedded/embedded.ts';
import { startCuttingProxy } from '../stream-check/cutting-proxy.ts';
import { type ClickHouseFacade, startClickHouseFacade } from '../support/infra/clickhouse/start-facade.ts';
import { until } from './program.ts';

/** The failure lasts until `lift` has resolved. */
export interface StoreFailure {
  readonly begin: () => Promise<void>;
  readonly lift: () => Promise<void>;
}

export interface FailingStores {
  readonly settings: { readonly DATABASE_URL: string; readonly CLICKHOUSE_URL: string };
  readonly faults: Readonly<Record<FaultName, StoreFailure>>;
  stop(): Promise<void>;
}

export type FaultName =
  | 'connections of Postgres end'
  | 'Postgres is killed'
  | 'Postgres cannot be reached'
  | 'Postgres is full'
  | 'Postgres takes no writes'
  | 'ClickHouse is killed'
  | 'ClickHouse cannot be reached'
  | 'ClickHouse hangs'
  | 'ClickHouse has no disk space';

const DATABASE = 'production';
const FULL = '53300';
/** Pause between two rounds of a repeated fault. */
const AGAIN_MS = 100;

export async function startFailingStores(folder: string): Promise<FailingStores> {
  const server = await startEmbeddedPostgres(join(folder, 'postgres'), pino({ level: 'silent' }));
  await server.createDatabase(DATABASE);
  const postgresProxy = await startCuttingProxy();
  const postgresTarget = addressOf(server.urlOf(DATABASE));
  postgresProxy.target = postgresTarget;
  const clickhouseProxy = await startCuttingProxy();
  const startFacade = async (): Promise<ClickHouseFacade> => {
    const started = await startClickHouseFacade(join(folder, 'clickhouse'));
    clickhouseProxy.target = Number(new URL(started.url).port);
    return started;
  };
  let facade = await startFacade();
  const diskless = await startDisklessClickHouse();

  async function asAdmin(...statements: string[]): Promise<void> {
    const client = new pg.Client({ connectionString: server.url }).on('error', () => undefined);
    await client.connect();
    try {
      for (const statement of statements) await client.query(statement);
    } finally {
      await client.end();
    }
  }

  // An autovacuum worker belongs to a superuser; the test may not end it.
  const endConnections = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = '${DATABASE}' AND backend_type = 'client backend'`;

  /** Repeats the fault, so that connections end in every state they can be in. */
  function repeated(round: () => Promise<unknown>): StoreFailure {
    let stop = new AbortController();
    let running: Promise<void> = Promise.resolve();
    return {
      async begin() {
        stop = new AbortController();
        const { signal } = stop;
        running = (async () => {
          while (!signal.aborted) {
            await round();
            await sleep(AGAIN_MS);
          }
        })();
      },
      async lift() {
        stop.abort();
        await running;
      },
    };
  }

  const held: pg.Client[] = [];

  /** Takes every remaining connection, first those that the service had. */
  async function fill(): Promise<void> {
    try {
      for (;;) {
        const client = new pg.Client({ connectionString: server.url }).on('error', () => undefined);
        await client.connect();
        if (held.length === 0) await client.query(endConnections);
        held.push(client);
      }
    } catch (error) {
      if ((error as { code?: unknown }).code !== FULL) throw error;
      await held[0]?.query(endConnections);
    }
  }

  const full = repeated(fill);
  const faults: FailingStores['faults'] = {
    'connections of Postgres end': repeated(() => asAdmin(endConnections)),
    'Postgres is killed': {
      async begin() {
        const [pid] = readFileSync(join(folder, 'postgres/postmaster.pid'), 'utf8').split('\n');
        process.kill(Number(pid), 'SIGKILL');
      },
      lift: () =>
        until('Postgres runs again', () =>
          asAdmin('SELECT 1').then(
            () => true,
            () => false,
          ),
        ),
    },
    'Postgres cannot be reached': {
      async begin() {
        postgresProxy.target = null;
        postgresProxy.cutAll();
      },
      async lift() {
        postgresProxy.target = postgresTarget;
      },
    },
    'Postgres is full': {
      begin: full.begin,
      async lift() {
        await full.lift();
        for (const client of held.splice(0)) await client.end();
      },
    },
    'Postgres takes no writes': {
      begin: () => asAdmin(`ALTER DATABASE ${DATABASE} SET default_transaction_read_only = on`, endConnections),
      lift: () => asAdmin(`ALTER DATABASE ${DATABASE} RESET default_transaction_read_only`, endConnections),
    },
    'ClickHouse is killed': {
      begin: () => facade.stop(),
      async lift() {
        facade = await startFacade();
      },
    },
    'ClickHouse cannot be reached': {
      async begin() {
        clickhouseProxy.target = null;
        clickhouseProxy.cutAll();
      },
      async lift() {
        clickhouseProxy.target = Number(new URL(facade.url).port);
      },
    },
    'ClickHouse hangs': {
      begin: async () => void process.kill(facade.pid, 'SIGSTOP'),
      lift: async () => void process.kill(facade.pid, 'SIGCONT'),
    },
    'ClickHouse has no disk space': {
      async begin() {
        clickhouseProxy.target = diskless.port;
        clickhouseProxy.cutAll();
      },
      async lift() {
        clickhouseProxy.target = Number(new URL(facade.url).port);
        clickhouseProxy.cutAll();
      },
    },
  };

  return {
    settings: {
      DATABASE_URL: through(server.urlOf(DATABASE), postgresProxy.port),
      CLICKHOUSE_URL: through(facade.url, clickhouseProxy.port),
    },
    faults,
    async stop() {
      await facade.stop();
      await diskless.stop();
      await server.stop();
      await postgresProxy.stop();
      await clickhouseProxy.stop();
    },
  };
}

/** Answers every statement like a server that cannot reserve space on its disk. */
async function startDisklessClickHouse(): Promise<{ readonly port: number; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(500, { 'X-ClickHouse-Exception-Code': '243' });
    response.end('Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space. (NOT_ENOUGH_SPACE)');
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function addressOf(url: string): number | string {
  const { host, port } = parse(url);
  return host?.startsWith('/') ? `${host}/.s.PGSQL.${port ?? 5432}` : Number(port);
}

/** The same user, password and database, through the proxy. */
function through(url: string, port: number): string {
  const { protocol, username, password, pathname } = new URL(url);
  const other = new URL(`http://127.0.0.1:${port}${pathname}`);
  other.username = username;
  other.password = password;
  return other.href.replace('http:', protocol);
}
