#!/usr/bin/env node
/** The program: runs one command line. `npm start` is `verustream start`. */
import { runCommand } from './commands/run-command.ts';
import { UsageError, VerustreamError } from './schemas/errors.ts';

process.umask(0o077); // only this user may read the files that it writes
try {
  process.exitCode = await runCommand(process.argv.slice(2), { print: console.log, piece, progress: console.error });
} catch (error) {
  if (!(error instanceof VerustreamError)) throw error;
  const message = error.message.replaceAll(/\s*\n\s*/g, ' ');
  console.error(`verustream: ${message} (${error.code})`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}

function piece(text: string): Promise<void> {
  const { stdout } = process;
  if (stdout.listenerCount('error') === 0) stdout.on('error', unlessClosed);
  return new Promise((resolve) => stdout.write(text, () => resolve()));
}

/** The reader of the answer may close the pipe early. */
function unlessClosed(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}
