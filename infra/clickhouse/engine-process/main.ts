/**
 * The program of the embedded engine. Each client of its Unix socket gets its own engine connection, which runs one statement at a time.
 * start.ts starts it: main.ts <folder> <configuration> <socket>
 */
import { rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { Session } from 'chdb';
import { messageOf } from '../../../schemas/errors.ts';
import type { EngineAnswer } from './connection.ts';
import { onFrames, writeFrame } from './frames.ts';
import { watchForStalled } from './stalled-statements.ts';
import type { FromEngine } from './start.ts';
import { type EngineStatement, runStatement } from './statement.ts';

const [folder = '', config = '', path = ''] = process.argv.slice(2);

function main(): void {
  const first = new Session(folder, { connectionArgs: [`--config-file=${config}`] });
  const running = async (seconds: number) =>
    Number((await first.queryAsync(`SELECT countIf(elapsed > ${seconds}) FROM system.processes`)).text());
  const watch = watchForStalled(running, (what) => say({ stalled: what }, kill));
  /** The last statement of each client. */
  const clients = new Map<Socket, Promise<unknown>>();

  async function answer(socket: Socket, session: Session, statement: EngineStatement, rows: Buffer): Promise<void> {
    try {
      const sql = rows.length > 0 ? `${statement.sql}\n${rows}` : statement.sql;
      const body = await watch.during(statement.sql, runStatement(session, { ...statement, sql }));
      writeFrame(socket, {} satisfies EngineAnswer, [body]);
    } catch (error) {
      writeFrame(socket, { error: messageOf(error) } satisfies EngineAnswer, []);
    }
  }

  const server = createServer((socket) => {
    const session = new Session(folder);
    clients.set(socket, Promise.resolve());
    onFrames<EngineStatement>(socket, ({ head, body }) => {
      const before = clients.get(socket);
      clients.set(
        socket,
        (async () => {
          await before;
          await answer(socket, session, head, body);
        })(),
      );
    });
    socket.on('error', () => undefined); // 'close' follows; the program has ended, or has given up the connection
    socket.on('close', async () => {
      await clients.get(socket);
      clients.delete(socket);
      session.close();
    });
  });

  async function close(): Promise<void> {
    watch.end();
    await Promise.all(clients.values());
    first.close();
    process.exit(0);
  }

  process.on('message', () => void close());
  server.listen(path, () => say('ready'));
}

const say = (message: FromEngine, then = () => {}) => void process.send?.(message, then);

function kill(): void {
  rmSync(dirname(path), { recursive: true, force: true }); // the folder of the socket
  process.kill(process.pid, 'SIGKILL');
}

// Signals to the process group are meant for the main program, which ends the engine when its own work is done.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined);
// The main program was killed: end at once, so that its next start finds the folder unlocked.
process.on('disconnect', kill);

try {
  main();
} catch (error) {
  say({ failed: messageOf(error) }, () => process.exit(1));
}
