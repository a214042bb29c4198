/** Several things that are opened one after the other and closed together. */
import { messageOf } from '../schemas/errors.ts';

export type Closers = (() => unknown)[];

/**
 * `open` adds a closer for each thing that it opens. `close()` of the result calls them in reverse order, each once, the rest
 * also when one throws.
 * @throws what `open` throws, once everything that it had opened is closed; an AggregateError when closers throw too
 */
export async function openTogether<Opened extends object>(
  open: (closers: Closers) => Promise<Opened>,
): Promise<Opened & { close(): Promise<void> }> {
  const closers: Closers = [];
  try {
    return { ...(await open(closers)), close: async () => throwAll(await closeAll(closers)) };
  } catch (error) {
    const failures = await closeAll(closers);
    return throwAll([error, ...failures]) as never;
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

function throwAll(errors: readonly unknown[]): void {
  if (errors.length === 1) throw errors[0];
  if (errors.length > 1) throw new AggregateError(errors, errors.map(messageOf).join('; '));
}
