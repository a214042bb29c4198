/** Resources that are opened one after the other and closed together. */
import { VerustreamError } from '../schemas/errors.ts';
import type { Logger } from './logger.ts';

export type Closers = (() => unknown)[];

/**
 * `open` adds a closer for each resource that it opens. `close()` of the result calls all closers once in reverse order, even if some
 * throw. It throws the first error with a code, else the first, and logs the others: the program handles errors by their code.
 * @throws what `open` throws, after everything that it had opened is closed
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

/** Returns the errors that the closers threw. */
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
  for (const err of failures) logger.warn({ err }, 'a resource could not be closed');
}
