/**
 * The production form: the log on a real Kafka broker, Postgres by URL, ClickHouse by URL (a facade over the embedded engine,
 * not a server), roles spread over processes. It ends with the same data and gives the same answers as one process does.
 */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ClickHouseFacade, startClickHouseFacade } from '../../infra/clickhouse/testing/start-facade.ts';
import { startTestBroker, type TestBroker } from '../../infra/event-log/kafka/test-broker/test-broker.ts';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../infra/postgres/embedded/embedded.ts';
import { connectPostgres, type Postgres } from '../../infra/postgres/postgres.ts';
import type { RecordedNode } from '../../infra/recorded-node/recorded-node.ts';
import { answersOf } from './answers.ts';
import { type Left, leftBy } from './digests.ts';
import { runCommand, type Settings, startProgram, until, untilStatus } from './program.ts';
import { settingsFor, startNode, temporaryFolder, untilServed } from './recorded-chain.ts';

const MINUTES = 60_000;
const started = await startTestBroker();
const broker: TestBroker | null = 'skipped' in started ? null : started;
/** Topics of a broker that is not ours may outlive the test. */
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
  let server: EmbeddedPostgres;
  let postgres: Postgres;
  let facade: ClickHouseFacade;
  let settings: Settings;

  beforeAll(async () => {
    node = await startNode(0);
    end = node.fork + 15;
    node.advanceTo(end);
    const embedded = settingsFor(node.url, { name });
    const program = await startProgram(embedded).answers();
    await untilServed(program, node, 2 * MINUTES, name);
    expectedAnswers = await answersOf(program);
    expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
    expected = await leftBy(embedded);

    const folder = temporaryFolder();
    server = await startEmbeddedPostgres(join(folder, 'postgres'), logger);
    await server.createDatabase('production');
    const DATABASE_URL = server.urlOf('production');
    postgres = await connectPostgres({ url: DATABASE_URL, logger });
    facade = await startClickHouseFacade(join(folder, 'clickhouse'));
    const { VERUSTREAM_CONFIG = '' } = settingsFor(node.url, { name });
    settings = { VERUSTREAM_CONFIG, KAFKA_BROKERS, DATABASE_URL, CLICKHOUSE_URL: facade.url, DATA_DIR: '/nowhere' };
  }, 4 * MINUTES);

  afterAll(async () => {
    await postgres?.close();
    await facade?.stop();
    await server?.stop();
  });

  async function committed(stage: 'derive' | 'price'): Promise<{ height: number; hash: string } | undefined> {
    const { rows } = await postgres.pool
      .query<{ height: number; hash: string }>('SELECT height, hash FROM stage_positions WHERE stage = $1', [stage])
      .catch(() => ({ rows: [] })); // before the first start there is no such table
    return rows[0];
  }

  const untilCommitted = () =>
    until(
      `${node.height} ${node.hash} is committed`,
      async () => (await committed('derive'))?.hash === node.hash && (await committed('price'))?.hash === node.hash,
      2 * MINUTES,
    );

  const start = (ROLES: string) => startProgram({ ...settings, ROLES });

  it('roles in processes of their own, some of them killed, give the data and the answers of one process', async () => {
    node.branch('main', node.fork - 5);
    const [killedTail, killedDerive] = [start('tail'), start('derive,price')];
    const serve = await start('serve').answers();
    await until('derive is under way', async () => ((await committed('derive'))?.height ?? 0) > 50, MINUTES);
    const standby = start('derive,price');
    await killedTail.kill('SIGKILL');
    const tail = start('tail');
    await killedDerive.kill('SIGKILL');
    await untilCommitted();
    node.branch('orphan', node.fork + 4);
    await untilCommitted();
    node.branch('main', end);
    await untilCommitted();

    expect(await answersOf(serve)).toEqual(expectedAnswers);
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
    await untilServed(program, node, 2 * MINUTES, name);
    expect(await answersOf(program)).toEqual(expectedAnswers);
    expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
    const left = await leftBy(embedded);
    expect({ ...left, records: end + 1, rewinds: 0 }).toEqual(expected);
  });

  it('a second tail takes over from the first, which stops and says so', async () => {
    const [first, derive] = [start('tail'), start('derive,price')];
    node.branch('main', end + 10);
    await untilCommitted();
    const second = start('tail');
    await until('the second is there', () => second.output().includes('tailer following'), MINUTES);
    node.branch('main', end + 20);
    await untilCommitted();
    await until(
      'the first is fenced',
      () => first.complaints().some(({ code }) => code === 'log_writer_fenced'),
      MINUTES,
    );
    expect(second.complaints()).toEqual([]);
    // The last word of the first stands there until the second reports again.
    await untilStatus(settings, 0);
    for (const program of [first, second, derive]) expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
  });

  it.skipIf(process.env.KAFKA_BROKERS !== undefined)(
    'a broker that goes away is waited for; nothing is lost',
    async () => {
      const embedded = { ...settingsFor(node.url, { name: `${name}-2` }), KAFKA_BROKERS };
      node.branch('main', 40);
      const program = await startProgram(embedded).answers();
      await untilServed(program, node, 2 * MINUTES, `${name}-2`);
      await broker?.kill();
      node.advanceTo(60);
      await until('it is missed', () => program.complaints().some(({ code }) => code === 'log_unreachable'), MINUTES);
      expect(await program.get('/api/blocks/40')).toMatchObject({ status: 200 });
      await broker?.restart();
      await untilServed(program, node, 2 * MINUTES, `${name}-2`);
      expect(
        program.complaints().filter(({ level }) => level > 40),
        'no stage stops for good',
      ).toEqual([]);
      expect(await program.kill('SIGTERM')).toMatchObject({ code: 0 });
      expect(await leftBy(embedded)).toMatchObject({ records: 61, heights: 61, rewinds: 0 });
    },
  );
});
