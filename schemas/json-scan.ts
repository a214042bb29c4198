/** Whether a text is JSON, found without building its values: a body of megabytes of brackets is cheap to send, not to hold. */

const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const BACKSLASH = 92;
const ARRAY_OPEN = 91;
const ARRAY_CLOSE = 93;
const OBJECT_OPEN = 123;
const OBJECT_CLOSE = 125;

/** Index of the first character at or after `at` that is no whitespace. */
export function skipSpace(text: string, at: number): number {
  let next = at;
  for (;;) {
    const code = text.charCodeAt(next);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return next;
    next++;
  }
}

const isDigit = (code: number) => code >= 48 && code <= 57;
const HEX = /^[0-9a-fA-F]{4}$/;
const WORDS = ['true', 'false', 'null'];

/** Index behind the string that begins at `start`; -1 when it is none. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < 32) return -1;
    if (code !== BACKSLASH) continue;
    at += 1;
    const escaped = text[at] ?? '';
    if (escaped === 'u') {
      if (!HEX.test(text.slice(at + 1, at + 5))) return -1;
      at += 4;
    } else if (!'"\\/bfnrt'.includes(escaped) || escaped === '') return -1;
  }
  return -1;
}

function endOfDigits(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

/** Index behind the number that begins at `start`; -1 when it is none. */
function endOfNumber(text: string, start: number): number {
  const first = text[start] === '-' ? start + 1 : start;
  let at = text[first] === '0' ? first + 1 : endOfDigits(text, first);
  if (at === first) return -1;
  if (text[at] === '.') {
    const fraction = at + 1;
    at = endOfDigits(text, fraction);
    if (at === fraction) return -1;
  }
  if (text[at] !== 'e' && text[at] !== 'E') return at;
  const exponent = text[at + 1] === '+' || text[at + 1] === '-' ? at + 2 : at + 1;
  at = endOfDigits(text, exponent);
  return at === exponent ? -1 : at;
}

function endOfScalar(text: string, start: number): number {
  if (text.charCodeAt(start) === QUOTE) return endOfString(text, start);
  const word = WORDS.find((candidate) => text.startsWith(candidate, start));
  return word ? start + word.length : endOfNumber(text, start);
}

/** Index of the value after `"key":`; -1 when there is no key. */
function endOfKey(text: string, start: number): number {
  const end = text.charCodeAt(start) === QUOTE ? endOfString(text, start) : -1;
  const colon = end < 0 ? -1 : skipSpace(text, end);
  return text.charCodeAt(colon) === COLON ? skipSpace(text, colon + 1) : -1;
}

/** The open brackets, a byte each, so that depth costs no more than its text did. */
function createStack() {
  let kinds = new Uint8Array(64);
  let depth = 0;
  return {
    get top() {
      return depth === 0 ? 0 : (kinds[depth - 1] ?? 0);
    },
    push(kind: number): void {
      if (depth === kinds.length) {
        const longer = new Uint8Array(depth * 2);
        longer.set(kinds);
        kinds = longer;
      }
      kinds[depth++] = kind;
    },
    pop(): void {
      depth -= 1;
    },
  };
}

export function isJson(text: string): boolean {
  const open = createStack();
  let at = skipSpace(text, 0);
  for (;;) {
    // A value begins here.
    const code = text.charCodeAt(at);
    if (code === ARRAY_OPEN || code === OBJECT_OPEN) {
      const close = code === ARRAY_OPEN ? ARRAY_CLOSE : OBJECT_CLOSE;
      at = skipSpace(text, at + 1);
      open.push(close);
      if (text.charCodeAt(at) !== close) {
        if (close === OBJECT_CLOSE) at = endOfKey(text, at);
        if (at < 0) return false;
        continue;
      }
    } else {
      at = endOfScalar(text, at);
      if (at < 0) return false;
      at = skipSpace(text, at);
    }
    // Behind a value, or before the bracket that ends an empty one.
    while (open.top !== 0 && text.charCodeAt(at) === open.top) {
      open.pop();
      at = skipSpace(text, at + 1);
    }
    if (open.top === 0) return at === text.length;
    if (text.charCodeAt(at) !== COMMA) return false;
    at = skipSpace(text, at + 1);
    if (open.top === OBJECT_CLOSE) at = endOfKey(text, at);
    if (at < 0) return false;
  }
}
