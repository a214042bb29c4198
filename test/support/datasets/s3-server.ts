/** A real S3 server: moto, a Python package. It keeps buckets in memory until it ends. */
import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { pythonPackage } from '../infra/python-packages.ts';
import { reservePort } from '../infra/reserved-port.ts';

const PACKAGE = 'moto[s3]==5.2.1';
/** Dependencies of the server. The extra `server` would install three times as much, for services other than S3. */
const SERVER = ['flask==3.1.3', 'flask-cors==6.0.5'] as const;
const START_MS = 60_000;

export interface S3Server {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startS3Server(): Promise<S3Server> {
  const PYTHONPATH = pythonPackage(PACKAGE, { beside: SERVER });
  const { port, release } = await reservePort();
  const child = spawn('python3', ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], {
    env: { ...process.env, PYTHONPATH },
    stdio: 'ignore',
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const kill = () => void child.kill('SIGKILL');
  process.once('exit', kill);
  const url = `http://127.0.0.1:${port}`;
  const until = Date.now() + START_MS;
  while (!(await fetch(url).catch(() => null))) {
    if (Date.now() > until || child.exitCode !== null) throw new Error('the S3 server did not start');
    await sleep(100);
  }
  return {
    url,
    async stop() {
      process.off('exit', kill);
      kill();
      await ended;
      release();
    },
  };
}
