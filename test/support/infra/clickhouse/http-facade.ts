/**
 * A FACADE, not a server: the HTTP interface of the embedded engine on a port, with a password, to test code that connects to a server by
 * URL where no server is available. Run as a program: http-facade.ts <folder> <number of the first KILL statements to refuse>.
 */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { Session } from 'chdb';
import { type EngineStatement, runStatement } from '../../../../infra/clickhouse/engine-process/statement.ts';

const ENGINES = 4;
const USER = 'user';
const PASSWORD = 'password';
/** URL parameters that are not settings. */
const CONTROL = /^(query|query_id|database|session_.*|param_.*)$/;
/** Settings of servers that the engine does not know. */
const OF_SERVERS = new Set(['wait_end_of_query', 'enable_http_compression', 'send_progress_in_http_headers']);
const PARQUET = /^([\s\S]*) FORMAT Parquet\s*$/;

async function main(folder: string, refusedKills: number): Promise<void> {
  const path = resolve(folder);
  let kills = 0;
  const refuseKill = (sql: string) => {
    if (!sql.startsWith('KILL QUERY') || ++kills > refusedKills) return;
    throw new Error('Code: 202. DB::Exception: Too many simultaneous queries (TOO_MANY_SIMULTANEOUS_QUERIES)');
  };
  const idle = Array.from({ length: ENGINES }, () => new Session(path));
  const waiting: ((session: Session) => void)[] = [];
  const server = createServer(async (request, response) => {
    const session = idle.pop() ?? (await new Promise<Session>((done) => waiting.push(done)));
    try {
      await answer(session, request, response, refuseKill);
    } catch (error) {
      const { message } = error as Error;
      await session.queryAsync('SELECT 1'); // a failed query counts as running until its session is used again
      response.writeHead(500, { 'X-ClickHouse-Exception-Code': /^Code: (\d+)/.exec(message)?.[1] ?? '1002' });
      response.end(message);
    }
    const next = waiting.shift();
    if (next) next(session);
    else idle.push(session);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  console.log(`http://${USER}:${PASSWORD}@127.0.0.1:${port}`);
  process.on('disconnect', () => process.exit(0)); // the test that started this process has ended
}

async function answer(
  session: Session,
  request: IncomingMessage,
  response: ServerResponse,
  before: (sql: string) => void,
): Promise<void> {
  if (request.url?.startsWith('/ping')) return void response.end('Ok.\n');
  const credentials = Buffer.from(`${USER}:${PASSWORD}`).toString('base64');
  if (request.headers.authorization !== `Basic ${credentials}`) {
    throw new Error('Code: 516. DB::Exception: Authentication failed (AUTHENTICATION_FAILED)');
  }
  const given = new URL(request.url ?? '/', 'http://facade').searchParams;
  const statement = {
    sql: [given.get('query'), await text(request)].filter(Boolean).join('\n'),
    params: Object.fromEntries(
      [...given].filter(([name]) => name.startsWith('param_')).map(([name, value]) => [name.slice(6), value]),
    ),
    settings: Object.fromEntries([...given].filter(([name]) => !CONTROL.test(name) && !OF_SERVERS.has(name))),
  };
  before(statement.sql);
  await session.queryAsync(`USE ${given.get('database') ?? 'default'}`);
  const parquet = PARQUET.exec(statement.sql);
  if (parquet) await answerParquet(session, { ...statement, sql: parquet[1] ?? '' }, response);
  else response.end(await runStatement(session, statement));
}

/** The engine returns no binary results, so it writes a file whose content is the server's answer. */
async function answerParquet(session: Session, statement: EngineStatement, response: ServerResponse) {
  const file = join(tmpdir(), `facade-${randomUUID()}.parquet`);
  try {
    await runStatement(session, {
      ...statement,
      sql: `INSERT INTO FUNCTION file('${file}', 'Parquet') ${statement.sql}`,
    });
    response.end(await readFile(file));
  } finally {
    await rm(file, { force: true });
  }
}

await main(process.argv[2] ?? '.', Number(process.argv[3] ?? 0));
