/** Several things that are opened one after the other and closed together. */
export type Closers = (() => unknown)[];

/**
 * `open` adds a closer for each thing that it opens. `close()` of the result calls them in reverse order, each once.
 * @throws what `open` throws, once everything that it had opened is closed
 */
export async function openTogether<Opened extends object>(
  open: (closers: Closers) => Promise<Opened>,
): Promise<Opened & { close(): Promise<void> }> {
  const closers: Closers = [];
  const close = async () => {
    for (const closer of closers.splice(0).reverse()) await closer();
  };
  try {
    return { ...(await open(closers)), close };
  } catch (error) {
    await close();
    throw error;
  }
}
