/** Like Promise.all, but waits for all works even when one fails, so that none is under way once the caller has the first error in their order. */
export async function allEnded<T extends readonly unknown[] | []>(
  works: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(works);
  return Promise.all(works);
}
