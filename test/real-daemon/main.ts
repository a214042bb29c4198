/** npm run real-daemon -- http://user:password@host:port [--zmq tcp://host:port] [--folder F] [--samples N] [--blocks N] */
import { parseArgs } from 'node:util';
import { pino } from 'pino';
import { messageOf } from '../../schemas/errors.ts';
import { tryDaemon } from './real-daemon.ts';

const USAGE =
  'npm run real-daemon -- http://user:password@host:port [--zmq tcp://host:port] [--folder F] [--samples N] [--blocks N]';

function readArguments() {
  const text = (fallback: string) => ({ type: 'string', default: fallback }) as const;
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      zmq: { type: 'string' },
      folder: text('data/real-daemon'),
      samples: text('200'),
      blocks: text('10'),
    },
  });
  const [rpc, ...more] = positionals;
  const [samples, blocks] = [values.samples, values.blocks].map(Number);
  const isCount = (count: number | undefined): count is number => Number.isSafeInteger(count) && Number(count) >= 0;
  if (rpc === undefined || more.length > 0) throw new TypeError('give exactly one daemon address');
  if (!isCount(samples) || !isCount(blocks)) throw new TypeError('--samples and --blocks are whole numbers from 0');
  return { rpc, zmq: values.zmq ?? null, folder: values.folder, samples, blocks };
}

function argumentsOrUsage() {
  try {
    return readArguments();
  } catch (error) {
    console.error(`${messageOf(error)}\n${USAGE}`);
    process.exit(2);
  }
}

const stop = new AbortController();
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort());
const logger = pino({ level: 'warn' });
const differing = await tryDaemon({ ...argumentsOrUsage(), logger, print: console.log, signal: stop.signal });
process.exit(differing === 0 ? 0 : 1);
