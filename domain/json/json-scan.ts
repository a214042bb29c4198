/** Reads JSON in one pass without building its values: megabytes of brackets are cheap to send but expensive to keep in memory. */

const QUOTE = 34;
const COMMA = 44;
const MINUS = 45;
const DOT = 46;
const SLASH = 47;
const ZERO = 48;
const NINE = 57;
const COLON = 58;
const ARRAY_OPEN = 91;
const BACKSLASH = 92;
const ARRAY_CLOSE = 93;
const LOWER_U = 117;
const OBJECT_OPEN = 123;
const OBJECT_CLOSE = 125;
/** b, f, n, r, t */
const CONTROL_LETTERS = [98, 102, 110, 114, 116];

/** Marks between values. */
export const MARKS = {
  comma: COMMA,
  colon: COLON,
  arrayOpen: ARRAY_OPEN,
  arrayClose: ARRAY_CLOSE,
  objectOpen: OBJECT_OPEN,
  objectClose: OBJECT_CLOSE,
} as const;

/** Index of the first character at or after `at` that is not whitespace. */
export function skipSpace(text: string, at: number): number {
  let next = at;
  for (;;) {
    const code = text.charCodeAt(next);
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return next;
    next++;
  }
}

/** Index after the string that begins at `start`. @throws SyntaxError for an unterminated one */
export function endOfString(text: string, start: number): number {
  for (let quote = text.indexOf('"', start + 1); quote > 0; quote = text.indexOf('"', quote + 1)) {
    let slashes = 0;
    while (text.charCodeAt(quote - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return quote + 1;
  }
  throw new SyntaxError('a string does not end');
}

export const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;

/** Value of four hexadecimal digits; -1 for other characters. */
function hexCode(text: string, start: number): number {
  let value = 0;
  for (let at = start; at < start + 4; at++) {
    const code = text.charCodeAt(at);
    const lower = code | 32;
    if (isDigit(code)) value = value * 16 + code - ZERO;
    else if (lower >= 97 && lower <= 102) value = value * 16 + lower - 87;
    else return -1;
  }
  return value;
}

const isHighSurrogate = (code: number) => code >= 0xd800 && code <= 0xdbff;
const isLowSurrogate = (code: number) => code >= 0xdc00 && code <= 0xdfff;

function endOfDigits(text: string, start: number): number {
  let at = start;
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

/** Index after the number that begins at `start`; -1 when no number begins there. */
function endOfNumber(text: string, start: number): number {
  const first = text.charCodeAt(start) === MINUS ? start + 1 : start;
  let at = text.charCodeAt(first) === ZERO ? first + 1 : endOfDigits(text, first);
  if (at === first) return -1;
  if (text.charCodeAt(at) === DOT) {
    const fraction = at + 1;
    at = endOfDigits(text, fraction);
    if (at === fraction) return -1;
  }
  if (text[at] !== 'e' && text[at] !== 'E') return at;
  const exponent = text[at + 1] === '+' || text[at + 1] === '-' ? at + 2 : at + 1;
  at = endOfDigits(text, exponent);
  return at === exponent ? -1 : at;
}

/** Shared by all scanners, because only one text is read at a time; the scanner of a deeper text allocates its own array. */
const SHALLOW = new Uint8Array(64);

/**
 * Moves through a text value by value and counts what it meets. It accepts the texts that the daemon's parser accepts: valid JSON in
 * which no escape leaves half a surrogate pair. Once a method returns false, the text is invalid and the scanner must not be used again.
 */
export class JsonScanner {
  /** Index after the last token. */
  at = 0;
  /** Number of values and keys so far. */
  tokens = 0;
  /** The scanner stops beyond this number, as if the text were invalid. */
  mostTokens = Number.POSITIVE_INFINITY;
  /** Largest number of brackets that were open at once. */
  deepest = 0;
  /** Whether an escape stood for U+0000. */
  sawNul = false;
  readonly #text: string;
  /** Closing characters of the brackets open in value(), one byte each, so that depth takes no more memory than the text. */
  #kinds = SHALLOW;

  constructor(text: string) {
    this.#text = text;
  }

  /** Index of the next value, key or mark. */
  start(): number {
    this.at = skipSpace(this.#text, this.at);
    return this.at;
  }

  /** Code of the next character; NaN at the end of the text. */
  next(): number {
    return this.#text.charCodeAt(this.start());
  }

  /** Skips the mark if it comes next. */
  take(mark: number): boolean {
    if (this.next() !== mark) return false;
    this.at += 1;
    return true;
  }

  string(): boolean {
    const text = this.#text;
    const start = this.start();
    if (text.charCodeAt(start) !== QUOTE) return false;
    for (let at = start + 1; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.at = at + 1;
        return this.#count();
      }
      if (code < 32) return false;
      if (code === BACKSLASH) {
        at = this.#escape(at + 1);
        if (at < 0) return false;
      }
    }
    return false;
  }

  /** Reads a value of any depth; `open` is the number of brackets around it. */
  value(open: number): boolean {
    let depth = 0;
    for (;;) {
      // A value begins here.
      const code = this.next();
      if (code === ARRAY_OPEN || code === OBJECT_OPEN) {
        if (!this.#count()) return false;
        this.at += 1;
        this.#open(depth++, code + 2);
        if (open + depth > this.deepest) this.deepest = open + depth;
        if (this.next() !== code + 2) {
          if (code === OBJECT_OPEN && !this.#key()) return false;
          continue;
        }
      } else if (!this.#scalar(code)) return false;
      // After a value, or before the bracket that closes an empty one.
      while (depth > 0 && this.take(this.#kinds[depth - 1] ?? 0)) depth -= 1;
      if (depth === 0) return true;
      if (!this.take(COMMA)) return false;
      if (this.#kinds[depth - 1] === OBJECT_CLOSE && !this.#key()) return false;
    }
  }

  /** True when only whitespace follows. */
  isAtEnd(): boolean {
    return this.start() === this.#text.length;
  }

  #count(): boolean {
    this.tokens += 1;
    return this.tokens <= this.mostTokens;
  }

  #key(): boolean {
    return this.string() && this.take(COLON);
  }

  #open(depth: number, close: number): void {
    if (depth === this.#kinds.length) {
      const longer = new Uint8Array(depth * 2);
      longer.set(this.#kinds);
      this.#kinds = longer;
    }
    this.#kinds[depth] = close;
  }

  #scalar(code: number): boolean {
    if (code === QUOTE) return this.string();
    const end = code === MINUS || isDigit(code) ? endOfNumber(this.#text, this.at) : this.#endOfWord();
    if (end < 0) return false;
    this.at = end;
    return this.#count();
  }

  #endOfWord(): number {
    if (this.#text.startsWith('true', this.at) || this.#text.startsWith('null', this.at)) return this.at + 4;
    return this.#text.startsWith('false', this.at) ? this.at + 5 : -1;
  }

  /** Index of the last character of the escape whose letter is at `at`; -1 for an invalid escape. */
  #escape(at: number): number {
    const text = this.#text;
    const letter = text.charCodeAt(at);
    if (letter === QUOTE || letter === BACKSLASH || letter === SLASH) return at;
    if (letter === LOWER_U) {
      const code = hexCode(text, at + 1);
      if (code === 0) this.sawNul = true;
      if (code < 0 || isLowSurrogate(code)) return -1;
      if (!isHighSurrogate(code)) return at + 4;
      const isPair = text.charCodeAt(at + 5) === BACKSLASH && text.charCodeAt(at + 6) === LOWER_U;
      return isPair && isLowSurrogate(hexCode(text, at + 7)) ? at + 10 : -1;
    }
    return CONTROL_LETTERS.includes(letter) ? at : -1;
  }
}

/** Whether the daemon's parser accepts the text, with at most this many brackets open at once. */
export function isDaemonJson(text: string, deepest = Number.POSITIVE_INFINITY): boolean {
  const scanner = new JsonScanner(text);
  return scanner.value(0) && scanner.isAtEnd() && scanner.deepest <= deepest;
}
