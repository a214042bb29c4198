/**
 * A FACADE, not a server: ClickHouse's HTTP interface over the embedded engine, in a process of its own, so that
 * what talks to a server by URL is tested where no server can be had. Run as a program: http-facade.ts <folder>.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { createChdbConnection } from 'chdb/connection';

type Engine = ReturnType<typeof createChdbConnection>;

const applied = new WeakMap<Engine, string>();

const ENGINES = 4;
const USER = 'user';
const PASSWORD = 'password';
const PARQUET = /^([\s\S]*) FORMAT Parquet\s*$/;
/** Parameters of the URL that are not settings. */
const CONTROL = /^(query|query_id|database|session_.*|param_.*)$/;

async function main(folder: string): Promise<void> {
  const path = resolve(folder);
  const idle = Array.from({ length: ENGINES }, () => createChdbConnection({ path }));
  const waiting: ((engine: Engine) => void)[] = [];
  const server = createServer(async (request, response) => {
    const engine = idle.pop() ?? (await new Promise<Engine>((done) => waiting.push(done)));
    try {
      await answer(engine, request, response);
    } catch (error) {
      const { code = '1000', message } = error as { code?: string; message: string };
      response.writeHead(500, { 'X-ClickHouse-Exception-Code': code });
      response.end(`Code: ${code}. DB::Exception: ${message} (${(error as { type?: string }).type ?? 'UNKNOWN'})`);
    }
    const next = waiting.shift();
    if (next) next(engine);
    else idle.push(engine);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  console.log(`http://${USER}:${PASSWORD}@127.0.0.1:${port}`);
  process.on('disconnect', () => process.exit(0)); // the test that started it is gone
}

async function answer(engine: Engine, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://facade');
  if (url.pathname === '/ping') return void response.end('Ok.\n');
  const credentials = Buffer.from(`${USER}:${PASSWORD}`).toString('base64');
  if (request.headers.authorization !== `Basic ${credentials}`) {
    throw Object.assign(new Error('Authentication failed'), { code: '516', type: 'AUTHENTICATION_FAILED' });
  }
  const body = (await buffer(request)).toString();
  const query = [url.searchParams.get('query'), body].filter(Boolean).join('\n');
  const database = url.searchParams.get('database') ?? 'default';
  await run(engine, `USE ${database}`);
  const parquet = PARQUET.exec(query);
  if (parquet) await answerParquet(engine, parquet[1] ?? '', url.searchParams, response);
  else response.end(await run(engine, query, url.searchParams));
}

/** The engine gives no binary answer: it writes a file, which is the answer of a server. */
async function answerParquet(engine: Engine, select: string, params: URLSearchParams, response: ServerResponse) {
  const file = join(tmpdir(), `facade-${randomUUID()}.parquet`);
  try {
    await run(engine, `INSERT INTO FUNCTION file('${file}', 'Parquet') ${select}`, params);
    response.end(await readFile(file));
  } finally {
    await rm(file, { force: true });
  }
}

async function run(engine: Engine, query: string, params = new URLSearchParams()): Promise<string> {
  const given = [...params].filter(([name]) => !CONTROL.test(name));
  // They stay on a connection, and are the same of each statement.
  const known = JSON.stringify(given) === applied.get(engine);
  if (given.length > 0) applied.set(engine, JSON.stringify(given));
  const settings = known ? {} : Object.fromEntries(given);
  const values = [...params].filter(([name]) => name.startsWith('param_'));
  const sets = values.map(([name, value]) => `${name} = ${quote(value)}`);
  if (sets.length > 0) await run(engine, `SET ${sets.join(', ')}`);
  const result = await engine.exec({ query, clickhouse_settings: settings } as Parameters<Engine['exec']>[0]);
  return text(result.stream);
}

function quote(value: string): string {
  return `'${value.replace(/[\\']/g, '\\$&')}'`;
}

await main(process.argv[2] ?? '.');
