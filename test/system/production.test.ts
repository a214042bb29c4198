/**
 * The production set-up: the log on a real Kafka broker, Postgres by URL, ClickHouse by URL (a facade over the embedded engine, unless
 * TEST_STORES=containers), roles in several processes. It ends with the same data and gives the same answers as a single process.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../infra/postgres/embedded/embedded.ts';
import { connectPostgres, type Postgres } from '../../infra/postgres/postgres.ts';
import type { RecordedNode } from '../../recordings/player/recorded-node.ts';
import { sseMessages } from '../stream-check/sse-events.ts';
import { startClickHouseFacade } from '../support/infra/clickhouse/start-facade.ts';
import { type ContainerServers, startContainerServers, wantsContainers } from '../support/infra/container-servers.ts';
import { startTestBroker, type TestBroker } from '../support/infra/event-log/kafka/test-broker/test-broker.ts';
import { answersOf, differing } from './answers.ts';
import { type Left, leftBy } from './digests.ts';
import { type ProgramSettings, runCommand, startProgram, until, untilStatus } from './program.ts';
import { settingsFor, startNode, temporaryFolder, untilServed } from './recorded-chain.ts';

const MINUTES = 60_000;
const started = await startTestBroker();
const broker: TestBroker | null = 'skipped' in started ? null : started;
/** Random, because topics on a shared broker may outlive the test. */
const name = `system-${randomBytes(4).toString('hex')}`;
const logger = pino({ level: 'silent' });

let node: RecordedNode;
let end: number;
let expected: Left;
let expectedAnswers: Record<string, string>;

afterAll(async () => {
  await broker?.stop();
});

describe.skipIf(!broker)('on Kafka', { timeout: 5 * MINUTES }, () => {
  const KAFKA_BROKERS = broker?.brokers.join(',') ?? '';
  let servers: ContainerServers;
  let postgres: Postgres;
  let settings: ProgramSettings;

  beforeAll(async () => {
    node = await startNode(0);
    end = node.fork + 15;
    node.advanceTo(end);
    const embedded = settingsFor(node.url, { name });
    const program = await startProgram(embedded).answers();
    await untilServed(program, node, undefined, name);
    expectedAnswers = await answersOf(program);
    expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
    expected = await leftBy(embedded);

    servers = wantsContainers() ? await startContainerServers() : await startStandIns(temporaryFolder());
    await servers.createDatabase('production');
    const DATABASE_URL = servers.urlOf('production');
    postgres = await connectPostgres({ url: DATABASE_URL, logger });
    const CLICKHOUSE_URL = await servers.clickhouseUrlOf('default');
    const { VERUSTREAM_CONFIG = '' } = settingsFor(node.url, { name });
    settings = { VERUSTREAM_CONFIG, KAFKA_BROKERS, DATABASE_URL, CLICKHOUSE_URL, DATA_DIR: '/nowhere' };
  });

  afterAll(async () => {
    await postgres?.close();
    await servers?.stop();
  });

  async function committed(stage: 'derive' | 'price'): Promise<{ height: number; hash: string } | undefined> {
    const { rows } = await postgres.pool
      .query<{ height: number; hash: string }>('SELECT height, hash FROM stage_positions WHERE stage = $1', [stage])
      .catch(() => ({ rows: [] })); // before the first start this table does not exist
    return rows[0];
  }

  const untilCommitted = () =>
    until(
      `${node.height} ${node.hash} is committed`,
      async () => (await committed('derive'))?.hash === node.hash && (await committed('price'))?.hash === node.hash,
    );

  const start = (ROLES: string) => startProgram({ ...settings, ROLES });

  it('roles in separate processes, some of them killed, end with the data and answers of one process', async () => {
    node.branch('main', node.fork - 5);
    const [killedTail, killedDerive] = [start('tail'), start('derive,price')];
    const serve = await start('serve').answers();
    await until('derive is under way', async () => ((await committed('derive'))?.height ?? 0) > 50);
    const standby = start('derive,price');
    await killedTail.kill('SIGKILL');
    const tail = start('tail');
    await killedDerive.kill('SIGKILL');
    await untilCommitted();
    node.branch('orphan', node.fork + 4);
    await untilCommitted();
    node.branch('main', end);
    await untilCommitted();

    expect(differing(await answersOf(serve), expectedAnswers)).toEqual({});
    for (const command of ['status', 'verify', 'audit']) {
      expect(await runCommand([command], settings)).toMatchObject({ code: 0 });
    }
    expect(tail.complaints()).toEqual([expect.objectContaining({ msg: 'chain reorganised: rewound', depth: 4 })]);
    expect(standby.complaints()).toEqual([]);
    for (const program of [tail, standby, serve]) expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
    const left = await leftBy(settings);
    expect(left.rewinds).toBe(1);
    expect({ ...left, records: end + 1, rewinds: 0 }).toEqual(expected);
  });

  it('one process with empty embedded stores builds them from the log on Kafka', async () => {
    const embedded = { ...settingsFor(node.url, { name }), KAFKA_BROKERS };
    const program = await startProgram(embedded).answers();
    await untilServed(program, node, undefined, name);
    expect(differing(await answersOf(program), expectedAnswers)).toEqual({});
    expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
    const left = await leftBy(embedded);
    expect({ ...left, records: end + 1, rewinds: 0 }).toEqual(expected);
  });

  it('a second tail takes over from the first, which stops and reports it', async () => {
    const [first, derive] = [start('tail'), start('derive,price')];
    node.branch('main', end + 10);
    await untilCommitted();
    const second = start('tail');
    await until('the second is there', () => second.output().includes('tailer following'));
    node.branch('main', end + 20);
    await untilCommitted();
    await until('the first is fenced', () => first.complaints().some(({ code }) => code === 'log_writer_fenced'));
    expect(second.complaints()).toEqual([]);
    // The first one's last status remains until the second one reports again.
    await untilStatus(settings, 0);
    for (const program of [first, second, derive]) expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
  });

  it('the serve role reports a killed tail and a dead daemon', async () => {
    const [tail, derive] = [start('tail'), start('derive,price')];
    const serve = await start('serve').answers();
    const ready = async () => {
      const { status, body } = await serve.get(`/api/health/ready?chain=${name}`);
      const { reasons } = JSON.parse(body) as { reasons: { code: string; stage: string | null }[] };
      return `${status} ${reasons.map(({ code, stage }) => `${stage} ${code}`).join()}`.trim();
    };
    const says = (wanted: string) =>
      until(`ready says ${wanted}`, async () => (await ready()) === wanted).catch(async (error: unknown) => {
        throw new Error(`${String(error)}\n${await ready()}`);
      });
    // The arrival time of the newest block is stored, so that years-old blocks are not a stall for a new process.
    await says('200');
    node.branch('main', end + 21);
    await untilCommitted();
    node.setFaults({ closeRate: 1 });
    await says('503 null daemon_unreachable');
    node.setFaults({});
    await says('200');
    await tail.kill('SIGKILL');
    await says('503 tail not_reporting');
    for (const program of [derive, serve]) expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
  });

  it.skipIf(process.env.KAFKA_BROKERS !== undefined)('waits for a broker that goes away; nothing is lost', async () => {
    const embedded = { ...settingsFor(node.url, { name: `${name}-2` }), KAFKA_BROKERS };
    node.branch('main', 40);
    const program = await startProgram(embedded).answers();
    await untilServed(program, node, undefined, `${name}-2`);
    const heard = heardBlocks(program.base);
    await broker?.kill();
    node.advanceTo(60);
    await until('it is missed', () => program.complaints().some(({ code }) => code === 'log_unreachable'));
    await until('readiness names it', async () => {
      const { status, body } = await program.get('/api/health/ready');
      return status === 503 && /"stage_waiting".*log_unreachable/.test(body);
    });
    expect(await program.get('/api/blocks/40')).toMatchObject({ status: 200 });
    await broker?.restart();
    await untilServed(program, node, undefined, `${name}-2`);
    await until('who listened all the time has heard of the last block', () => heard.includes(60));
    expect(heard).toEqual(Array.from({ length: 20 }, (_, index) => 41 + index));
    expect(
      program.complaints().filter(({ level }) => level > 40),
      'no stage stops for good',
    ).toEqual([]);
    expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
    expect(await leftBy(embedded)).toMatchObject({ records: 61, heights: 61, rewinds: 0 });
  });
});

async function startStandIns(folder: string): Promise<ContainerServers> {
  const server = await startEmbeddedPostgres(join(folder, 'postgres'), logger);
  const facade = await startClickHouseFacade(join(folder, 'clickhouse'));
  return {
    url: server.url,
    urlOf: server.urlOf,
    createDatabase: server.createDatabase,
    clickhouseUrlOf: async (database) => new URL(`/${database}`, facade.url).href,
    async stop() {
      await facade.stop();
      await server.stop();
    },
  };
}

/** Heights of the blocks that one connection has received so far. */
function heardBlocks(base: string): readonly number[] {
  const heights: number[] = [];
  const follow = async () => {
    const messages = sseMessages(`${base}/api/stream?channels=blocks`, null, new AbortController().signal);
    for await (const message of messages) if (message.type === 'block') heights.push(message.data.height);
  };
  void follow(); // ends with the program
  return heights;
}
