/** Runs Apache Kafka with the local Java: one node that is broker and controller, in a temporary folder. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { reservePort } from '../../../reserved-port.ts';
import { kafkaJars } from './kafka-jars.ts';
import type { TestBroker } from './test-broker.ts';

const READY_SECONDS = 60;
/** Options of a short-lived JVM, for which the optimising compiler and a multi-threaded collector do not pay off. */
const BRIEF = ['-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC'];

/**
 * Runs the broker next to a reader of a pipe from this process. When this process ends, in whatever way, the pipe ends; then the broker is
 * killed and its folder ($0) removed, unless a word was written to the pipe first.
 */
const WATCHED = `
exec 3<&0 </dev/null >>"$0/broker.log" 2>&1
"$@" 3<&- & broker=$!
(read -r keep; kill -9 $broker 2>/dev/null; [ "$keep" ] || rm -rf "$0") <&3 &
wait $broker`;

/** Returns null when Java or Maven is missing. @throws Error with the end of the log when the broker does not start */
export async function startJavaBroker(): Promise<TestBroker | null> {
  const jars = kafkaJars();
  if (jars === null) return null;
  const folder = mkdtempSync(join(tmpdir(), 'verustream-kafka-'));
  const { port } = await reservePort();
  const properties = join(folder, 'server.properties');
  const log = join(folder, 'broker.log');
  writeFileSync(properties, serverProperties(folder, port, (await reservePort()).port));
  const java = ['-Dorg.slf4j.simpleLogger.defaultLogLevel=warn', '-cp', join(jars, '*')];
  cpSync(join(formattedFolder(jars, java), 'data'), join(folder, 'data'), { recursive: true });

  let watcher: ChildProcess | null = null;

  async function start(): Promise<void> {
    const jvm = ['java', '-Xms128m', '-Xmx640m', ...BRIEF, ...java, 'kafka.Kafka', properties];
    // In its own process group, so that Ctrl-C ends the tests first.
    const child = spawn('sh', ['-c', WATCHED, folder, ...jvm], { stdio: ['pipe', 'ignore', 'ignore'], detached: true });
    watcher = child;
    const deadline = Date.now() + READY_SECONDS * 1000;
    while (!(await accepts(port))) {
      if (child.exitCode !== null || Date.now() > deadline) {
        await kill();
        throw new Error(`the Kafka test broker did not start:\n${readFileSync(log, 'utf8').slice(-4000)}`);
      }
      await sleep(50);
    }
  }

  async function kill(): Promise<void> {
    const child = watcher;
    watcher = null;
    if (!child || child.exitCode !== null) return;
    const ended = once(child, 'exit');
    child.stdin?.end('keep\n');
    await ended;
  }

  await start();
  return {
    brokers: [`127.0.0.1:${port}`],
    kill,
    restart: start,
    async stop() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function serverProperties(folder: string, port: number, controllerPort: number): string {
  return `
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:${controllerPort}
listeners=PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}
advertised.listeners=PLAINTEXT://127.0.0.1:${port}
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
log.dirs=${join(folder, 'data')}
auto.create.topics.enable=false
offsets.topic.replication.factor=1
offsets.topic.num.partitions=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=1
broker.heartbeat.interval.ms=500
broker.session.timeout.ms=3000
`;
}

/** A folder whose `data` is that of a new broker. Made once and stored next to the jars, because making it takes a JVM. */
function formattedFolder(jars: string, java: readonly string[]): string {
  const formatted = `${jars}-formatted`;
  if (existsSync(formatted)) return formatted;
  // Under another name until it is complete: two test runs may make it at the same time, and either may be killed.
  const unfinished = mkdtempSync(`${jars}-formatting-`);
  const properties = join(unfinished, 'server.properties');
  writeFileSync(properties, serverProperties(unfinished, 9092, 9093)); // the ports are not stored in the folder
  const id = randomBytes(16).toString('base64url');
  const tool = [...BRIEF, ...java, 'kafka.tools.StorageTool'];
  const args = [...tool, 'format', `--cluster-id=${id}`, '-c', properties]; // one argument, because an id may begin with a hyphen
  const { status, stdout, stderr } = spawnSync('java', args, { encoding: 'utf8' });
  if (status !== 0) {
    rmSync(unfinished, { recursive: true });
    throw new Error(`the Kafka test broker's folder could not be made: ${stdout}${stderr}`);
  }
  try {
    renameSync(unfinished, formatted);
  } catch (error) {
    if (!existsSync(formatted)) throw error;
    rmSync(unfinished, { recursive: true });
  }
  return formatted;
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    }).on('error', () => resolve(false));
  });
}
