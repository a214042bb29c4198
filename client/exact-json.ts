/** Reads JSON numbers as their digits, because a double loses the last satoshis of an amount above 67 million coins. */

/** A number exactly as the service wrote it, such as `900719925.47409931`. */
export type NumberText = `${number}`;

/** The type of an answer whose numbers are text. */
export type Textual<T> = T extends number
  ? NumberText
  : T extends readonly (infer Item)[]
    ? Textual<Item>[]
    : T extends object
      ? { [Key in keyof T]: Textual<T[Key]> }
      : T;

/** Third argument of a reviver in engines that provide the source text: Chrome 114, Firefox 135, Safari 18.4, Node.js 21. */
interface Source {
  readonly source?: string;
}

/** For each object and array, the keys whose values were numbers. */
const numbers = new WeakMap<object, Set<string>>();

function noted(holder: object, key: string, digits: string): NumberText {
  const keys = numbers.get(holder);
  if (keys) keys.add(key);
  else numbers.set(holder, new Set([key]));
  return digits as NumberText;
}

/** Whether a text was a number in its answer; a name may consist of digits, too. */
export function isNumberText(holder: object, key: string): boolean {
  return numbers.get(holder)?.has(key) ?? false;
}

let readsSource = false;
JSON.parse('1', (_key, value, context?: Source) => {
  readsSource = context?.source === '1';
  return value;
});

/** @throws SyntaxError */
export async function parseExactly(text: string): Promise<unknown> {
  if (readsSource) {
    return JSON.parse(text, function (this: object, key, value, context?: Source) {
      return typeof value === 'number' ? noted(this, key, context?.source ?? String(value)) : value;
    });
  }
  const { isLosslessNumber, parse } = await import('lossless-json');
  return parse(text, function (this: object, key, value) {
    return isLosslessNumber(value) ? noted(this, key, value.value) : value;
  });
}
