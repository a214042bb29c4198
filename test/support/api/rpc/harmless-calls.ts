/**
 * Rules for what a public daemon may receive, written a second time: independent of the method table, the types and the guards, and based
 * on the daemon's source. Tests check every call that arrives against these rules.
 */
import { DAEMON_METHODS } from './published-methods.ts';

/** Height of the newest block in these rules. */
export const TIP = 3_000_000;
/** The only currency that getinitialcurrencystate may be called with. */
export const STARTED = 'iL61AyTw6Td3khQNE7oFGoH6cfM3mpxLXQ';

/** Position of the flag (returntx) without which a method writes. */
export const FLAGS: Readonly<Record<string, number>> = {
  registeridentity: 1,
  updateidentity: 1,
  revokeidentity: 1,
  recoveridentity: 1,
  setidentitytimelock: 2,
  sendcurrency: 4,
};

const LISTED = new Set(DAEMON_METHODS);

/** Texts that the daemon hashes or copies without parsing: `method position` and names of members. */
const FREE_PLACES = new Set(['verifymessage 2', 'convertpassphrase 0']);
const FREE_MEMBERS = /^(message|messagebase64|memo|label|prefixstring|evk)$/;
/** Texts that the daemon reads as digits, of any length. */
const LONG_PLACES =
  /^(sendrawtransaction|decoderawtransaction|decodescript|verifytxoutproof|hashdata) 0$|^(verifymessage|verifyhash) 1$/;
const LONG_MEMBERS =
  /^(messagehex|signature|data|objectdata|serialized.*|hex|opret|ivk|i[1-9A-HJ-NP-Za-km-z]{33}|.*::.*)$/;

interface Leaf {
  readonly value: string;
  readonly place: string;
  readonly member: string;
}

function* leaves(value: unknown, place: string, member = ''): Generator<Leaf> {
  if (typeof value === 'string') yield { value, place, member };
  else if (Array.isArray(value)) for (const item of value) yield* leaves(item, place, member);
  else if (value !== null && typeof value === 'object') {
    for (const [key, of] of Object.entries(value)) {
      yield { value: key, place, member: 'a key' };
      yield* leaves(of, place, key);
    }
  }
}

function nesting(value: unknown): number {
  if (value === null || typeof value !== 'object') return 0;
  return 1 + Math.max(0, ...Object.values(value).map(nesting));
}

const unescaped = (text: string) =>
  text.replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));

/** Whether a text is the object that a command line passes to getcurrencyconverters. */
function asksForConverters(text: string): boolean {
  const keys = /^(convertto|fromcurrency|targetprice|amount|slippage|currency)$/;
  try {
    const asked = JSON.parse(text) as unknown;
    if (nesting(asked) > 64) return false;
    return [...leaves(asked, '')].every(({ value, member }) =>
      member === 'a key' ? keys.test(value) : value.length <= 400 && !/[*"]|^\s*[{[]/.test(value),
    );
  } catch {
    return false;
  }
}

function faultOfText({ value, place, member }: Leaf): string | null {
  if (value.includes('\0')) return 'NUL';
  if (FREE_PLACES.has(place) || FREE_MEMBERS.test(member)) return null;
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to find
  if (/[\u0000-\u001f]/.test(value)) return 'a control character';
  const isCommandLineForm = place === 'getcurrencyconverters 0' && asksForConverters(value);
  if (/^\s*[{[]/.test(value) && (value.includes('"') || value.length > 400) && !isCommandLineForm)
    return 'JSON in a text';
  if (value.length > 400 && !LONG_PLACES.test(place) && !LONG_MEMBERS.test(member)) return 'a long text';
  return null;
}

const RANGE = /^(?: *\d{1,9} *(?:, *\d{1,9} *){0,2}(?:, *)?|[A-Za-z]*)$/;

/** Steps that verusd uses for a range of two numbers. */
const STEPS = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7];
const upToAHundred = (from: number, to: number) => STEPS.find((step) => to - from < 101 * step) ?? 0;
const theLast = (_: number, to: number) => to;

function faultOfHeights(
  text: string | undefined,
  mostSpan: number,
  stepOf: (from: number, to: number) => number,
): string | null {
  if (text === undefined) return null;
  if (!text.startsWith('"')) {
    return /^-?\d/.test(text) && !/^(-1|\d{1,9}(\.\d+)?)$/.test(text) ? 'an invalid height' : null;
  }
  const range = JSON.parse(text) as string;
  if (!RANGE.test(range)) return 'an invalid range';
  const [from, to, step] = range
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(Number);
  if (from === undefined || to === undefined) return null;
  const span = Math.min(to, TIP) - from;
  const own = range.includes(',', range.indexOf(',') + 1) ? theLast(from, to) : stepOf(from, to);
  return span / ((step ?? own) || 1) >= 2000 || span > mostSpan ? 'a long range' : null;
}

const number = (text: string | undefined) =>
  /^"?-?\d/.test(text ?? '') ? Number.parseInt((text ?? '').replace('"', ''), 10) : 0;

type Rule = (texts: readonly string[], params: string) => string | null;

const between = (texts: readonly string[]) => {
  const to = number(texts[2]) > 0 ? Math.min(number(texts[2]), TIP) : TIP;
  return texts.length > 0 && to - Math.max(0, number(texts[1])) > 50_000 ? 'the whole chain' : null;
};
const back: Rule = ([blocks]) => (Math.min(number(blocks), TIP) > 50_000 ? 'the whole chain' : null);
const proofAt =
  (position: number): Rule =>
  (texts) =>
    number(texts[position]) > TIP ? 'a proof above the tip' : null;

/** Names may be written in any case, with and without a suffix. */
const hasStarted = (name: string) =>
  name === STARTED ||
  /^puretri(\.vrsctest)?(@(vrsctest)?)?$/i.test(name) ||
  /^hex:E16D64AD0B321A43E87489113DEECB0921BA37B6$/i.test(name);

const RULES: Readonly<Record<string, Rule>> = {
  getcurrencybalance: ([holder = '']) =>
    /[*]|:private|"\s*zs?[0-9a-z]{60}/i.test(unescaped(holder)) ? 'what the wallet holds' : null,
  getinitialcurrencystate: (texts) =>
    texts.length === 1 && texts[0]?.startsWith('"') && texts[0] !== '""' && !hasStarted(String(JSON.parse(texts[0])))
      ? 'a currency without a start'
      : null,
  getcurrencystate: (texts) => faultOfHeights(texts[1], texts.length > 2 ? 50_000 : TIP, upToAHundred),
  getsaplingtree: (texts) => faultOfHeights(texts[0], TIP, theLast),
  gettxout: ([id = '', index = '', mempool = 'true', ...more]) => {
    const hasDigits = /^"\s*(0x)?[0-9a-f]{33}/i.test(id);
    return hasDigits && /^-?\d+$/.test(index) && Number(index) >= 0 && mempool === 'true' && more.length === 0
      ? 'an output of the mempool'
      : null;
  },
  getrawmempool: ([, filter = '']) => (/^"\s*[{[]/.test(filter) ? 'JSON in a text' : null),
  getblockhashes: ([high, low]) =>
    Math.min(((number(high) >>> 0) - (number(low) >>> 0)) / 60, TIP) > 50_000 ? 'the whole chain' : null,
  getexports: between,
  getimports: between,
  getnetworkhashps: back,
  getnetworksolps: back,
  verifychain: ([, blocks]) =>
    blocks !== undefined && /^-?\d/.test(blocks) && (number(blocks) < 1 || number(blocks) > 2000)
      ? 'the whole chain'
      : null,
  getidentity: proofAt(3),
  getidentitycontent: proofAt(4),
  getidentityhistory: proofAt(4),
};

/** Returns whether a text in this JSON contains a NUL; an escaped backslash does not start another escape. */
export const holdsNul = (json: string): boolean => /\\u0000/.test(json.replace(/\\\\/g, ''));

/** Returns why a daemon must not receive this call, or null if it may. `sent` are the texts of its parameters. */
export function faultOfCall(method: string, params: string, sent: readonly string[]): string | null {
  // The daemon reads the value of a string, whatever its notation.
  const texts = sent.map((text) => (text.startsWith('"') ? JSON.stringify(JSON.parse(text)) : text));
  const isHistory = method === 'getidentityhistory' && (texts.length === 0 || texts.length > 3);
  if (!LISTED.has(method) && !isHistory) return 'no such method';
  const flag = FLAGS[method];
  if (flag !== undefined && texts[flag] !== 'true') return 'no flag';
  if (Buffer.byteLength(params) > 4_004_096 || texts.length > 32) return 'too much';
  if (/"filename"\s*:/.test(unescaped(params)) || holdsNul(params)) return 'a file or a NUL';
  const values = JSON.parse(params) as unknown[];
  if (nesting(values) > 64) return 'too deep';
  for (const [index, value] of values.entries()) {
    for (const leaf of leaves(value, `${method} ${index}`)) {
      const fault = faultOfText(leaf);
      if (fault !== null) return `${fault} in ${leaf.member || leaf.place}`;
    }
  }
  return RULES[method]?.(texts, params) ?? null;
}
