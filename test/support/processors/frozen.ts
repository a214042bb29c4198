/**
 * Values that all tests of a process share: made once and frozen, so that a test that writes to one fails instead of affecting other tests.
 */

/** Makes every write to anything under `value` throw. */
export function freeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value) || ArrayBuffer.isView(value)) return value;
  Object.freeze(value);
  for (const inner of Object.values(value)) freeze(inner);
  return value;
}

/** Makes the value on the first call. */
export function frozenOnce<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made ??= { value: freeze(make()) };
    return made.value;
  };
}
