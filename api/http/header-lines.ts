/** Header lines as they are sent. Lines that do not depend on the request are composed only once. */

/** Lines, each after a line break. Made only by headerLines() or from numbers and checked ids, so that no client input can add a line. */
export type HeaderLines = string & { readonly __headerLines: true };

export const NO_LINES = '' as HeaderLines;

const NAME = /^[A-Za-z0-9-]+$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that a value must not contain
const NOT_IN_VALUE = /[\u0000-\u0008\u000a-\u001f\u007f]/;

/** @throws TypeError for a value that would not stay one line */
export function headerLines(headers: Readonly<Record<string, string>>): HeaderLines {
  let lines = '';
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name) || NOT_IN_VALUE.test(value)) {
      throw new TypeError(`${JSON.stringify(`${name}: ${value}`)} is not a header`);
    }
    lines += `\r\n${name}: ${value}`;
  }
  return lines as HeaderLines;
}

export function joinLines(first: HeaderLines, second: HeaderLines): HeaderLines {
  return (first + second) as HeaderLines;
}
