/**
 * Like Promise.all, but settles only when all works have ended, so that none still runs when the caller gets the error: the first one in
 * their order.
 */
export async function allEnded<T extends readonly unknown[] | []>(
  works: T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  await Promise.allSettled(works);
  return Promise.all(works);
}
