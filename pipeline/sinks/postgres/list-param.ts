/** Long lists of keys as one parameter: several times as quick to print and to read as an array literal. */

const SEPARATOR = '\n';

/** Addresses, ids, hex and numbers: no key of a chain holds a line break or is empty. */
export function listParam<T>(items: readonly T[], of: (item: T) => string | number | bigint | undefined): string {
  let text = '';
  for (const item of items) {
    const key = String(of(item));
    if (key === '' || key.includes(SEPARATOR)) throw new RangeError(`not a key: ${JSON.stringify(key)}`);
    text += text === '' ? key : SEPARATOR + key;
  }
  return text;
}

/** SQL of the list as text[]. */
export function listOf(parameter: string): string {
  return `string_to_array(${parameter}, E'\\n')`;
}
