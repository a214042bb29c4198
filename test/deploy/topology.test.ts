/** The deployment of docker-compose.yml runs: one process per role, the proxy, Prometheus, and the queries of the dashboards. */
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../infra/postgres/embedded/embedded.ts';
import { ROOT } from '../house/source-files.ts';
import { sseMessages } from '../stream-check/sse-events.ts';
import { startClickHouseFacade } from '../support/infra/clickhouse/start-facade.ts';
import { startTestBroker } from '../support/infra/event-log/kafka/test-broker/test-broker.ts';
import { runCommand, until } from '../system/program.ts';
import { temporaryFolder } from '../system/recorded-chain.ts';
import { type AlertFault, PROCESS_FAULTS } from './alert-faults.ts';
import { compose, textOf } from './compose-file.ts';
import { type FiringAlerts, testFires, testLeftOut } from './promtool.ts';
import { type Scraped, scrape } from './scraped-series.ts';
import { isInstalled, type Started, startPrometheus, startProxy, startTopology, type Topology } from './topology.ts';

const MINUTES = 60_000;
const FIRST_BLOCK = 840;
/** By then the live Prometheus has seen what the test has scraped. */
const SEEN_MS = 3_000;
const started = await startTestBroker();
const broker = 'skipped' in started ? null : started;
const isRequired = process.env.VERUSTREAM_REQUIRE_KAFKA === '1';
const missing = ['nginx', 'prometheus'].filter((program) => !isInstalled(program));
const untested = `the deployment was not tested: ${missing.join(' and ')} not installed`;
if (missing.length > 0 && isRequired) throw new Error(untested);
if (missing.length > 0) console.warn(untested);

const folder = temporaryFolder();
const closers: (() => Promise<void>)[] = [];
let topology: Topology;
let proxy: Started;
let prometheus: Started;

describe.skipIf(!broker || missing.length > 0)('the deployment', { timeout: 5 * MINUTES }, () => {
  beforeAll(async () => {
    const server = await startEmbeddedPostgres(join(folder, 'postgres'), pino({ level: 'silent' }));
    closers.push(() => server.stop());
    await server.createDatabase('verustream');
    const facade = await startClickHouseFacade(join(folder, 'clickhouse'));
    closers.push(() => facade.stop());
    topology = await startTopology(folder, {
      'kafka:29092': broker?.brokers[0] ?? '',
      'postgres:5432': server.urlOf('verustream'),
      'clickhouse:8123': facade.url,
    });
    proxy = await startProxy(join(folder, 'proxy'), serving());
    closers.push(() => proxy.stop());
    prometheus = await startPrometheus(join(folder, 'prometheus'), topology.metrics);
    closers.push(() => prometheus.stop());
    await until('the deployment is ready', async () => (await fetch(`${proxy.base}/api/health/ready`)).ok, 4 * MINUTES);
  }, 5 * MINUTES);

  afterAll(async () => {
    for (const close of closers.reverse()) await close();
    await broker?.stop();
  });

  /** The host:port of each process that serves. */
  function serving(): Map<string, string> {
    const programs = [...topology.programs].filter(([, { base }]) => base !== '');
    return new Map(programs.map(([name, { base }]) => [name, new URL(base).host]));
  }

  const height = async (base: string): Promise<number> => {
    const answer = await fetch(`${base}/api/blocks/?pageSize=1`);
    return ((await answer.json()) as { results: { height: number }[] }).results[0]?.height ?? -1;
  };

  it('serves a moving chain identically from both processes, and commands work', async () => {
    await until('blocks come', async () => (await height(proxy.base)) > FIRST_BLOCK + 2);
    const [one = '', other = ''] = [...serving().values()].map((host) => `http://${host}`);
    const at = `/api/blocks/${FIRST_BLOCK}`;
    // Both count confirmations up to the newest block that each knows.
    await until('both say the same of a block', async () => {
      const [ofOne, ofOther] = await Promise.all([one, other].map(async (host) => (await fetch(host + at)).text()));
      return ofOne === ofOther;
    });
    for (const command of ['status', 'audit']) {
      expect(await runCommand([command], topology.settings)).toMatchObject({ code: 0 });
    }
    const check = await runCommand(['check'], topology.settings);
    // The recorded daemon's wallet holds coins, which the check rightly reports.
    expect(check.output.split('\n').filter((line) => /^WRONG/.test(line) && !/its wallet holds/.test(line))).toEqual(
      [],
    );
  });

  it('the proxy forwards streams, WebSockets and JSON-RPC, and hides the metrics', async () => {
    const messages = sseMessages(`${proxy.base}/api/stream?channels=blocks`, null, AbortSignal.timeout(MINUTES));
    for await (const message of messages) if (message.type === 'block') break;
    const socket = new WebSocket(`${proxy.base.replace('http', 'ws')}/api/ws`);
    await new Promise((resolve, reject) => Object.assign(socket, { onmessage: resolve, onerror: reject }));
    socket.close();
    const call = await fetch(proxy.base, { method: 'POST', body: '{"id":1,"method":"getblockcount","params":[]}' });
    expect(((await call.json()) as { result: number }).result).toBeGreaterThanOrEqual(FIRST_BLOCK);
    expect((await fetch(`${proxy.base}/metrics`)).status).toBe(404);
  });

  it('requests that no process answers do not make a process unavailable to other clients', async () => {
    const { hostname, port } = new URL(proxy.base);
    const closed = Array.from({ length: 3 }, () => {
      const socket = connect(Number(port), hostname);
      socket.resume().write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nX-A: \x01\r\n\r\n');
      return once(socket, 'close');
    });
    let isOver = false;
    const over = Promise.all(closed).then(() => {
      isOver = true;
    });
    for (let more = 10; more > 0; more -= isOver ? 1 : 0) {
      expect((await fetch(`${proxy.base}/api/health`)).status).toBe(200);
      await sleep(100);
    }
    await over;
  });

  it('every role shows its own metrics', async () => {
    const stages = { tail: 'tail', derive: 'derive', price: 'price' };
    for (const [name, stage] of Object.entries(stages)) {
      const text = await (await fetch(`http://${topology.metrics.get(name)}/metrics`)).text();
      expect(text, name).toMatch(new RegExp(`verustream_stage_height\\{chain="vrsctest",stage="${stage}"\\} \\d+`));
    }
  });

  it('every query of every dashboard returns data', async () => {
    const folders = 'infra/deploy/grafana/dashboards';
    const queries = readdirSync(join(ROOT, folders)).flatMap((file) => {
      const { panels } = JSON.parse(textOf(`${folders}/${file}`)) as {
        panels: { title: string; targets?: { expr: string }[] }[];
      };
      return panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));
    });
    expect(queries.length).toBeGreaterThan(15);
    const isEmpty = async ({ expr }: { expr: string }): Promise<boolean> => {
      const query = expr.replaceAll('$__rate_interval', '20s').replaceAll('$chain', '.*');
      const answer = await fetch(`${prometheus.base}/api/v1/query?${new URLSearchParams({ query })}`);
      const { status, data, error } = (await answer.json()) as {
        status: string;
        data?: { result: unknown[] };
        error?: string;
      };
      if (status !== 'success') throw new Error(`${expr}: ${error}`);
      return data?.result.length === 0;
    };
    let empty = queries;
    await until('no panel is empty', async () => {
      const looked = await Promise.all(empty.map(async (query) => ((await isEmpty(query)) ? query : null)));
      empty = looked.filter((query) => query !== null);
      return empty.length === 0;
    }).catch(() => undefined);
    expect(empty).toEqual([]);
  });

  const shown: FiringAlerts[] = [];

  /** Scrapes every process, with constant values: the live Prometheus has checked how they change. */
  async function scrapedAll(): Promise<Scraped[]> {
    const all = [...topology.metrics].map(async ([name, address]) => {
      const text = await scrape(address);
      const { ROLES: role = '' } = compose.services[name]?.environment ?? {};
      return { instance: `${name}:9464`, role, first: text, second: text, seconds: 1 };
    });
    return Promise.all(all);
  }

  /** Names of the alerts in these states, except the one that depends on how busy the machine is. */
  async function alerts(...states: string[]): Promise<string> {
    const answer = await fetch(`${prometheus.base}/api/v1/alerts`);
    const { data } = (await answer.json()) as { data: { alerts: { state: string; labels: { alertname: string } }[] } };
    const names = data.alerts.filter(({ state }) => states.includes(state)).map(({ labels }) => labels.alertname);
    return [...new Set(names)]
      .filter((name) => name !== 'Latency')
      .sort()
      .join();
  }
  const firing = () => alerts('firing');

  /** Waits until exactly the alerts of the fault fire, and no other is firing or pending; a lasting false alert makes the wait fail. */
  async function untilOnly(fault: AlertFault): Promise<void> {
    const wanted = fault.fires.join();
    let [scraped, now]: [Scraped[], string[]] = [[], []];
    await until(`only the alerts of this fire: ${fault.name}`, async () => {
      scraped = await scrapedAll();
      await sleep(SEEN_MS);
      now = [await firing(), await alerts('firing', 'pending')];
      return now.every((names) => names === wanted);
    }).catch((error: unknown) => {
      throw new Error(`${String(error)}: ${now.join(' / ')} instead of ${wanted}`);
    });
    shown.push({ fault, scraped });
  }

  it('serves while one of its serving processes is gone, and only the alerts about it fire', async () => {
    // The recorded daemon's wallet holds coins.
    await until('the wallet is told of', async () => (await firing()) === 'WalletHolds');
    const [[name = ''] = []] = serving();
    await topology.programs.get(name)?.kill('SIGKILL');
    for (let asked = 0; asked < 10; asked++) {
      expect((await fetch(`${proxy.base}/api/blocks/${FIRST_BLOCK}`)).status).toBe(200);
    }
    await untilOnly(PROCESS_FAULTS.serves);
  });

  it('a dead daemon, then a dead stage, fire their alerts and no others', async () => {
    await topology.programs.get('daemon')?.kill('SIGKILL');
    await until('the daemon is missed', async () => (await firing()).includes('DaemonAway'));
    await sleep(8_000); // any other alert would have fired by then
    await untilOnly(PROCESS_FAULTS.daemon);
    await topology.programs.get('derive')?.kill('SIGKILL');
    await until('the stage is missed', async () => (await firing()).includes('StageSilent'));
    await sleep(8_000); // any other alert would have fired by then
    await untilOnly(PROCESS_FAULTS.stage);
  });

  it.skipIf(!isInstalled('promtool'))('in promtool the same alerts fire after the times of the rules', () => {
    expect(shown.length).toBe(Object.keys(PROCESS_FAULTS).length);
    expect(testFires(shown)).toBe('');
    expect(testLeftOut(shown)).toBe('');
  });
});
