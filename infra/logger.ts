/** Logs JSON lines, or readable text on a terminal. */
import { type Logger, type LoggerOptions, pino } from 'pino';
import { errorForLog } from './error-for-log.ts';

export type { Logger } from 'pino';

export const LOG_OPTIONS: LoggerOptions = {
  base: null,
  timestamp: pino.stdTimeFunctions.isoTime,
  serializers: { err: (error: unknown) => errorForLog(error) },
};
const STREAMS = { stdout: 1, stderr: 2 } as const;

/** A service logs to stdout. A command prints its output there, so it logs to stderr. */
export function createLogger(level: string, stream: keyof typeof STREAMS = 'stdout'): Logger {
  const options = { ...LOG_OPTIONS, level };
  const destination = STREAMS[stream];
  return process[stream].isTTY
    ? pino({ ...options, transport: { target: 'pino-pretty', options: { ignore: 'pid,hostname', destination } } })
    : pino(options, pino.destination({ dest: destination, sync: true }));
}
