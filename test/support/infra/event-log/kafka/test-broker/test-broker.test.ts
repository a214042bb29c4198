import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { startTestBroker } from './test-broker.ts';

const MODULE = new URL('test-broker.ts', import.meta.url).href;
const START = `
  const broker = await (await import(${JSON.stringify(MODULE)})).startTestBroker();
  console.log(JSON.stringify(broker));
  setInterval(() => {}, 1000);
`;

afterEach(() => vi.unstubAllEnvs());

function accepts(address: string): Promise<boolean> {
  const [host, port] = address.split(':');
  return new Promise((resolve) => {
    const socket = connect(Number(port), host, () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error('no output');
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`it ended with ${code} before it said anything`);
  });
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  return String(line);
}

describe('the test broker', () => {
  it('ends with the process that started it, even when that is killed', async ({ skip }) => {
    const child = spawn(process.execPath, ['--no-warnings', '--input-type=module', '-e', START], {
      env: { ...process.env, KAFKA_BROKERS: '' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const broker = JSON.parse(await firstLine(child));
    if ('skipped' in broker) child.kill();
    skip('skipped' in broker, broker.skipped);
    expect(await accepts(broker.brokers[0])).toBe(true);
    child.kill('SIGKILL');
    await expect.poll(() => accepts(broker.brokers[0])).toBe(false);
  });

  it('is the broker of KAFKA_BROKERS if it is set', async () => {
    vi.stubEnv('KAFKA_BROKERS', 'one:9092,two:9092');
    const broker = await startTestBroker();
    expect(broker).toMatchObject({ brokers: ['one:9092', 'two:9092'] });
  });

  it('is skipped on a machine that cannot run it, unless it is required', async () => {
    vi.stubEnv('KAFKA_BROKERS', '');
    vi.stubEnv('PATH', '');
    vi.stubEnv('VERUSTREAM_REQUIRE_KAFKA', '');
    expect(await startTestBroker()).toEqual({ skipped: expect.stringContaining('Kafka was not tested') });
    vi.stubEnv('VERUSTREAM_REQUIRE_KAFKA', '1');
    await expect(startTestBroker()).rejects.toThrow('Kafka was not tested');
  });
});
