/** The receivers of examples/, run as their readers run them: killed between two messages, and started again. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pino } from 'pino';
import { afterAll, expect, it } from 'vitest';
import { resolveBySystem } from '../../api/webhooks/resolve-name.ts';
import { newSecret } from '../../api/webhooks/secrets.ts';
import { createSender } from '../../api/webhooks/send-message.ts';
import { ROOT } from '../house/source-files.ts';
import { pythonPackage, STANDARD_WEBHOOKS } from '../support/infra/python-packages.ts';

const folder = mkdtempSync(join(tmpdir(), 'verustream-receivers-'));
const running = new Set<ChildProcess>();
const sender = createSender({
  allowLocal: true,
  logger: pino({ level: 'silent' }),
  userAgent: 'test',
  resolve: resolveBySystem,
});
afterAll(async () => {
  for (const child of running) child.kill('SIGKILL');
  await sender.close();
  rmSync(folder, { recursive: true, force: true });
});

const RECEIVERS = {
  'webhook-receiver.ts': [process.execPath, '--disable-warning=ExperimentalWarning'],
  'webhook_receiver.py': ['python3'],
} as const;
const names = Object.keys(RECEIVERS) as (keyof typeof RECEIVERS)[];

const secret = newSecret();

async function start(name: keyof typeof RECEIVERS, file: string) {
  const [command = '', ...flags] = RECEIVERS[name];
  const child = spawn(command, [...flags, join(ROOT, 'examples', name), '0', file], {
    env: {
      ...process.env,
      WEBHOOK_SECRET: secret,
      ...(command === 'python3' && { PYTHONPATH: pythonPackage(STANDARD_WEBHOOKS) }),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const said: string[] = [];
  const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> });
  lines.on('line', (line) => said.push(line));
  await expect.poll(() => said[0]).toMatch(/^listening on \d+$/);
  const url = `http://127.0.0.1:${said[0]?.split(' ').at(-1)}/`;
  const send = async (id: string, body: object, by = secret) => {
    const message = { id, url, body: JSON.stringify(body), secrets: [by] };
    const { outcome } = await sender.send(message, new AbortController().signal);
    return outcome as { kind: string; status: number };
  };
  const kill = async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  return { said, send, kill };
}

const block = (height: number) => ({
  type: 'block',
  timestamp: '2026-01-01T00:00:00.000Z',
  chain: 'c',
  data: { height },
});
const back = (id: string) => ({ ...block(1), type: 'block.reverted', reverts: id });

it.each(names)('%s accepts signed messages, each once, over a kill', async (name) => {
  const file = join(folder, `${name}.jsonl`);
  const first = await start(name, file);
  expect(await first.send('msg_1', block(1), newSecret())).toMatchObject({ status: 401 });
  expect(await first.send('msg_1', block(1))).toEqual({ kind: 'delivered', status: 204 });
  expect(await first.send('msg_2', block(2))).toEqual({ kind: 'delivered', status: 204 });
  await first.kill();
  appendFileSync(file, '["msg_3", {"ty'); // cut in the middle
  const second = await start(name, file);
  for (const [id, body] of [
    ['msg_2', block(2)],
    ['msg_3', block(3)],
    ['msg_4', back('msg_3')],
    ['msg_6', back('msg_5')],
    ['msg_5', block(5)],
  ] as const) {
    expect(await second.send(id, body)).toEqual({ kind: 'delivered', status: 204 });
  }
  await expect
    .poll(() => second.said.slice(1))
    .toEqual([expect.stringMatching(/^block c .*3/), 'takes back msg_3', 'takes back msg_5']);
  await second.kill();
  const taken = readFileSync(file, 'utf8').trimEnd().split('\n');
  expect(taken.map((line) => (JSON.parse(line) as [string])[0])).toEqual([1, 2, 3, 4, 6, 5].map((n) => `msg_${n}`));
});

it.each(names)('%s without its secret says what is missing, exit code 2', (name) => {
  const [command = '', ...flags] = RECEIVERS[name];
  const env = { ...process.env, WEBHOOK_SECRET: '', PYTHONPATH: pythonPackage(STANDARD_WEBHOOKS) };
  const options = { env, encoding: 'utf8' } as const;
  const { status, stdout, stderr } = spawnSync(command, [...flags, join(ROOT, 'examples', name)], options);
  expect([status, stdout, stderr]).toEqual([2, '', expect.stringMatching(/^WEBHOOK_SECRET is missing: .*\n$/)]);
});
