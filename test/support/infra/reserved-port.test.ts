/** Many processes reserve and release ports at the same time. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { NODE_FLAGS } from './node-flags.ts';
import { reservePort } from './reserved-port.ts';

const PROCESSES = 4;
const PORTS = 50;
const RANGE = '/proc/sys/net/ipv4/ip_local_port_range';
const MODULE = new URL('./reserved-port.ts', import.meta.url).href;
/** Keeps its ports until its standard input ends. */
const HOLDER = `
  import { reservePort } from ${JSON.stringify(MODULE)};
  const reserved = await Promise.all(Array.from({ length: ${PORTS} }, () => reservePort()));
  console.log(JSON.stringify(reserved.map(({ port }) => port)));
  process.stdin.resume();`;

const holders: ChildProcess[] = [];
afterEach(() => {
  for (const holder of holders.splice(0)) holder.kill('SIGKILL');
});

async function portsOfHolder(): Promise<number[]> {
  const holder = spawn(process.execPath, [...NODE_FLAGS, '--input-type=module', '-e', HOLDER], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  holders.push(holder);
  const [text] = (await once(holder.stdout, 'data')) as [Buffer];
  return JSON.parse(text.toString()) as number[];
}

it('never reserves a port twice, nor one that the system assigns itself, nor one in use', async () => {
  const [own, ...others] = await Promise.all([
    Promise.all(Array.from({ length: PORTS }, reservePort)),
    ...Array.from({ length: PROCESSES }, portsOfHolder),
  ]);
  const ports = [...own.map(({ port }) => port), ...others.flat()];
  expect(new Set(ports).size).toBe((PROCESSES + 1) * PORTS);
  const [lowest] = existsSync(RANGE) ? readFileSync(RANGE, 'utf8').split('\t').map(Number) : [49_152];
  expect(Math.max(...ports)).toBeLessThan(lowest ?? 0);
  for (const port of ports) {
    const server = createServer().listen(port, '127.0.0.1');
    await once(server, 'listening');
    server.close();
  }
  for (const { release } of own) release();
});
