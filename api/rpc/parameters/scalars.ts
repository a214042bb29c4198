/** Parameter types for single values. */
import { RPC_CODES } from '../../../schemas/verusd/rpc-envelope.ts';
import { type ParameterType, stringOf, textType } from './parameter-type.ts';

/** Longer than any name, which has at most four labels of 64 bytes. The daemon's work for an address is quadratic in its length. */
export const MOST_NAME = 400;
const MOST_WORD = 100;
/** Longest text, such as a message to verify. */
const MOST_TEXT = 1_000_000;
/** Hexadecimal digits of a transaction of 2 MB. */
const MOST_HEX = 4_000_000;

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: these are the characters that are refused
/** Brackets are allowed in names, because without quotes they cannot form harmful JSON. */
const PLAIN = /^[^\u0000-\u001f\u007f-\u009f\\:*"]*$/;
const PLAIN_OR_HEX = /^(?:[^\u0000-\u001f\u007f-\u009f\\:*"]*|hex:[0-9a-fA-F]{0,40})$/;
const WITH_COLONS = /^[^\u0000-\u001f\u007f-\u009f\\*"{}[\]]*$/;
const WORD = /^[^\u0000-\u001f\u007f-\u009f\\"{}[\]]*$/;
const NO_NUL = /^[^\u0000]*$/;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: these are the characters that are refused

/** Type of extra parameters; the daemon's methods count their parameters and refuse extra ones themselves. */
export const extra = textType({ allows: 'nothing', pattern: WORD, most: MOST_WORD });

/** A keyword, or a value where a method expects no text. */
export const word = textType({ allows: `a word of at most ${MOST_WORD} characters`, pattern: WORD, most: MOST_WORD });

export const flag: ParameterType = { ...word, allows: 'true or false' };

export const integer: ParameterType = { ...word, allows: 'a whole number' };

export const amount: ParameterType = { ...word, allows: 'a number of coins, or the same as text' };

/** An address or a name, without wildcards, `:private`, JSON and control characters. */
export const address = textType({
  allows: `an address or a name@ of at most ${MOST_NAME} characters`,
  pattern: PLAIN,
  most: MOST_NAME,
  code: RPC_CODES.invalidAddressOrKey,
});

export const identity = textType({
  allows: `a name@ or an i-address of at most ${MOST_NAME} characters`,
  pattern: PLAIN,
  most: MOST_NAME,
});

export const currency = textType({
  allows: `a name or an i-address of at most ${MOST_NAME} characters, or hex: and 40 digits`,
  pattern: PLAIN_OR_HEX,
  most: MOST_NAME,
});

/** For `sendcurrency`: also takes the daemon's wildcards for source addresses, and `:private` for a shielded destination. */
export const payee = textType({
  allows: `an address, a name@, a name@:private, or *, R* or i*, of at most ${MOST_NAME} characters`,
  pattern: /^(?:\*|R\*|i\*|[^\p{Cc}\\/:*?"<>|]*(?::private)?)$/u,
  most: MOST_NAME,
});

const SHIELDED = /^\s*z[0-9a-z]{60,}\s*$/i;

/** Refuses shielded addresses: only the owner of the wallet may know the balances of its shielded addresses. */
export const transparentAddress: ParameterType = {
  allows: `a transparent address or a name@ of at most ${MOST_NAME} characters`,
  check(text) {
    const misfit = address.check(text);
    const isShielded = !misfit && text.startsWith('"') && SHIELDED.test(stringOf(text));
    if (!misfit && !isShielded) return null;
    return { path: '', allows: transparentAddress.allows, code: RPC_CODES.invalidAddressOrKey };
  },
};

/** A data key: an i-address or a qualified name such as `vrsc::data.type.string`, but not its JSON form. */
export const dataKey = textType({
  allows: `a qualified name or an i-address of at most ${MOST_NAME} characters`,
  pattern: WITH_COLONS,
  most: MOST_NAME,
});

export const hash = textType({
  allows: '64 hexadecimal digits',
  pattern: /^[0-9A-Za-z]{0,64}$/,
  most: 64,
});

export const blockId = textType({
  allows: '64 hexadecimal digits, or a height as text',
  pattern: /^-?[0-9A-Za-z]{0,64}$/,
  most: 64,
});

const hexOf = (most: number) =>
  textType({
    allows: `at most ${most} hexadecimal digits`,
    pattern: /^(?:[0-9a-fA-F]*|[0-9A-Za-z]{0,64})$/,
    most,
  });

export const hex = hexOf(MOST_HEX);
export const shortHex = hexOf(16_384);

export const base64 = textType({
  allows: 'base64 of at most 20000 characters',
  pattern: /^(?:[0-9A-Za-z+/=]*|[ -!#-Z^-z|~]{0,100})$/,
  most: 20_000,
});

/** Any text: a signed message may contain line breaks and JSON, because the daemon only hashes it. */
export const freeText = textType({
  allows: `a text of at most ${MOST_TEXT} characters without U+0000`,
  pattern: NO_NUL,
  most: MOST_TEXT,
});

export const secret = textType({ allows: 'a text of at most 1000 characters', pattern: NO_NUL, most: 1000 });

/** Values that mean "no height". A number may have a fraction, which the daemon cuts off. */
const NO_HEIGHT = String.raw`null|true|false|\[\s*\]|\{\s*\}`;
const heightOf = (sign: string) => new RegExp(String.raw`^(?:${sign}\d{1,9}(?:\.\d{1,16})?|${NO_HEIGHT})$`);

/** ASCII digits only: no other scripts, separators or exponents. The daemon reads a text without digits as "no height". */
export const height = textType({
  allows: 'a height of at most nine digits',
  pattern: /^(?:-?\d{1,9}|[A-Za-z]{0,20})$/,
  most: 20,
  others: heightOf('-?'),
});

/** Strict, because the daemon also splits numbers at blanks, and reads signs, lone commas and large numbers in unexpected ways. */
export const heightRange = textType({
  allows: 'a height of at most nine digits, -1, or as text "from,to" or "from,to,step", with blanks around the numbers',
  pattern: /^(?: *\d{1,9} *(?:, *\d{1,9} *){0,2}(?:, *)?|[A-Za-z]{0,20})$/,
  most: 40,
  others: new RegExp(`${heightOf('').source}|^-1$`),
});
