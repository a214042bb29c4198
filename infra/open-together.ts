/** Several things that are opened one after the other and closed together. */
import { VerustreamError } from '../schemas/errors.ts';
import type { Logger } from './logger.ts';

export type Closers = (() => unknown)[];

/**
 * `open` adds a closer for each thing that it opens. `close()` of the result calls them in reverse order, each once, the rest
 * also when one throws. One error is thrown, and the others are logged: the program prints and passes on errors by their code.
 * @throws what `open` throws, once everything that it had opened is closed
 */
export async function openTogether<Opened extends object>(
  logger: Pick<Logger, 'warn'>,
  open: (closers: Closers) => Promise<Opened>,
): Promise<Opened & { close(): Promise<void> }> {
  const closers: Closers = [];
  const close = async () => {
    const failures = await closeAll(closers);
    const coded = failures.findIndex((error) => error instanceof VerustreamError);
    const [first] = failures.splice(Math.max(coded, 0), 1);
    logAll(failures, logger);
    if (first !== undefined) throw first;
  };
  try {
    return { ...(await open(closers)), close };
  } catch (error) {
    logAll(await closeAll(closers), logger);
    throw error;
  }
}

/** Returns what they threw. */
async function closeAll(closers: Closers): Promise<unknown[]> {
  const failures: unknown[] = [];
  for (const closer of closers.splice(0).reverse()) {
    try {
      await closer();
    } catch (error) {
      failures.push(error);
    }
  }
  return failures;
}

function logAll(failures: readonly unknown[], logger: Pick<Logger, 'warn'>): void {
  for (const err of failures) logger.warn({ err }, 'could not be closed');
}
