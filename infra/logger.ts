/** JSON lines; pretty on a terminal. */
import { type Logger, pino } from 'pino';

export type { Logger } from 'pino';

const STREAMS = { stdout: 1, stderr: 2 } as const;

/** A service logs to stdout; a command answers there, so its log goes to stderr. */
export function createLogger(level: string, stream: keyof typeof STREAMS = 'stdout'): Logger {
  const options = { level, base: null, timestamp: pino.stdTimeFunctions.isoTime } as const;
  const destination = STREAMS[stream];
  return process[stream].isTTY
    ? pino({ ...options, transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', destination } } })
    : pino(options, pino.destination({ dest: destination, sync: true }));
}
