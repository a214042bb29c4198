/** Tolerance for the golden numbers, which have 12 significant digits. */
const RELATIVE = 1e-9;

export function isNear(actual: string | number, expected: string | number): boolean {
  const [a, b] = [Number(actual), Number(expected)];
  return a === b || Math.abs(a - b) <= RELATIVE * Math.max(Math.abs(a), Math.abs(b));
}

/** Returns true when both are null or near. */
export function isNearOrNull(actual: string | null, expected: string | null): boolean {
  return actual === null || expected === null ? actual === expected : isNear(actual, expected);
}
