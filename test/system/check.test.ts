/** `verustream check` on a healthy set-up and on one where everything is wrong, against real stores and a real broker. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import kafkajs from 'kafkajs';
import { pino } from 'pino';
import { afterAll, expect, it } from 'vitest';
import { startEmbeddedPostgres } from '../../infra/postgres/embedded/embedded.ts';
import { startGoodDaemon } from '../support/commands/check/good-daemon.ts';
import { readJsonOutput } from '../support/commands/command-output.ts';
import { startClickHouseFacade } from '../support/infra/clickhouse/start-facade.ts';
import { startTestBroker } from '../support/infra/event-log/kafka/test-broker/test-broker.ts';
import { startSilentServer } from '../support/infra/silent-server.ts';
import { type ProgramSettings, runCommand, startProgram } from './program.ts';
import { settingsFor, startNode, temporaryFolder } from './recorded-chain.ts';

const started = await startTestBroker();
const broker = 'skipped' in started ? null : started;
const chain = `check-${randomBytes(4).toString('hex')}`;
const folder = temporaryFolder();
const server = await startEmbeddedPostgres(join(folder, 'postgres'), pino({ level: 'silent' }));
await server.createDatabase('check');
const facade = await startClickHouseFacade(join(folder, 'clickhouse'));

afterAll(async () => {
  await facade.stop();
  await server.stop();
  await broker?.stop();
});

const wrongOf = (output: string) => output.split('\n').filter((line) => line.startsWith('WRONG'));

function settingsOf(rpc: string, more: ProgramSettings = {}): ProgramSettings {
  const { VERUSTREAM_CONFIG, DATA_DIR } = settingsFor(rpc, { name: chain, rootCurrency: 'VRSC' });
  const stores = { DATABASE_URL: server.urlOf('check'), CLICKHOUSE_URL: facade.url };
  const log: ProgramSettings = broker ? { KAFKA_BROKERS: broker.brokers.join(',') } : {};
  return { VERUSTREAM_CONFIG: VERUSTREAM_CONFIG ?? '', DATA_DIR, PORT: '0', ...stores, ...log, ...more };
}

it('finds nothing wrong with healthy servers and a healthy daemon; --json agrees', async () => {
  const daemon = await startGoodDaemon();
  const settings = settingsOf(daemon.rpc);
  const { code, stdout } = await runCommand(['check'], settings);
  expect(wrongOf(stdout)).toEqual([]);
  expect(code).toBe(0);
  for (const subject of [`daemon ${chain} 1`, 'log', 'Postgres', 'ClickHouse', 'memory', 'port']) {
    expect(stdout).toMatch(new RegExp(`^(right|note ) +${subject} `, 'm'));
  }
  const json = await runCommand(['check', '--json'], settings);
  const printed = readJsonOutput(json.stdout);
  expect(printed.ok).toBe(true);
  expect(printed.findings).toHaveLength(stdout.trim().split('\n').length - 1);
  await daemon.stop();
});

it('notes databases that a killed verify left behind', async () => {
  await server.createDatabase('verustream_beside_0123456789ab');
  const { stdout } = await runCommand(['check'], settingsOf('http://a:b@127.0.0.1:1'));
  expect(stdout).toMatch(/^note +Postgres +a killed `verify` has left verustream_beside_0123456789ab, /m);
});

it('reports all problems together, each with a remedy and without secrets', async () => {
  const [DATABASE_URL, CLICKHOUSE_URL] = ['postgres://u:topsecret@127.0.0.1:1/db', 'http://u:topsecret@127.0.0.1:1/db'];
  const settings = settingsOf('http://user:topsecret@127.0.0.1:1', { DATABASE_URL, CLICKHOUSE_URL });
  const { code, stdout, output } = await runCommand(['check'], { ...settings, KAFKA_BROKERS: '127.0.0.1:1' });
  expect(code).toBe(1);
  expect(wrongOf(stdout)).toEqual([
    expect.stringMatching(/daemon .*daemon_unreachable.*to do: start the daemon/),
    expect.stringMatching(/log .*log_unreachable.*to do: start Kafka/),
    expect.stringMatching(/Postgres .*127\.0\.0\.1:1\/db.*postgres_unreachable.*to do: start Postgres/),
    expect.stringMatching(/ClickHouse .*clickhouse_unreachable.*to do: start ClickHouse/),
  ]);
  expect(stdout).toContain('4 wrong');
  expect(output).not.toContain('topsecret');
  const refused = await runCommand(
    ['check'],
    settingsOf('http://a:b@127.0.0.1:1', { CLICKHOUSE_URL: facade.url.replace('password', 'no') }),
  );
  expect(wrongOf(refused.stdout).join('\n')).toMatch(/ClickHouse .*clickhouse_refused/);
});

it('ends at once on a signal, whatever it waits for', async () => {
  const silent = await startSilentServer();
  const DATA_DIR = join(temporaryFolder(), 'data');
  const program = startProgram({ DATA_DIR, CLICKHOUSE_URL: `http://u:p@${silent.host}/db` }, { args: ['check'] });
  await expect.poll(() => silent.connections(), { timeout: 60_000 }).toBeGreaterThan(0);
  expect(await program.kill('SIGTERM')).toMatchObject({ code: 1, stdout: '' });
  await silent.stop();
});

it.skipIf(!broker)('names a topic that would lose records, and how to fix it', async () => {
  const admin = new kafkajs.Kafka({
    brokers: [...(broker?.brokers ?? [])],
    logLevel: kafkajs.logLevel.NOTHING,
  }).admin();
  await admin.connect();
  const configEntries = [{ name: 'retention.ms', value: '1000' }];
  const topic = `verustream.blocks.${chain}`;
  await admin.createTopics({ topics: [{ topic, numPartitions: 1, configEntries }], waitForLeaders: true });
  const daemon = await startGoodDaemon();
  const { code, stdout } = await runCommand(['check'], settingsOf(daemon.rpc));
  await admin.deleteTopics({ topics: [topic] });
  await admin.disconnect();
  await daemon.stop();
  expect(wrongOf(stdout)).toEqual([expect.stringMatching(/retention\.ms is 1000.*kafka-configs\.sh --alter/)]);
  expect(code).toBe(1);
});

it('recognises the running service by its folder and its port, and another program on the port', async () => {
  const node = await startNode(20);
  const settings = settingsFor(node.url);
  const program = await startProgram(settings).answers();
  const PORT = new URL(program.base).port;
  const { stdout } = await runCommand(['check'], { ...settings, PORT });
  expect(stdout).toMatch(/^note +data folder .*used by a running service/m);
  expect(stdout).toMatch(/^note +port .*used by a running verustream/m);
  const stranger = await runCommand(['check'], { ...settings, PORT: new URL(node.url).port });
  expect(wrongOf(stranger.stdout).join('\n')).toMatch(/port .*EADDRINUSE.*end that process/);
  expect(stranger.code).toBe(1);
  await program.kill('SIGTERM');
});

it('without a daemon reports the recording that will be played; refuses an unknown option', async () => {
  const DATA_DIR = join(temporaryFolder(), 'data');
  const { code, stdout } = await runCommand(['check'], { DATA_DIR, PORT: '0' });
  expect(stdout).toMatch(/^note +daemons .*bundled recording/m);
  expect(code).toBe(0);
  expect(await runCommand(['check', '--jsn'], { DATA_DIR })).toMatchObject({
    code: 2,
    output: expect.stringContaining('usage: check [--json]'),
  });
});
