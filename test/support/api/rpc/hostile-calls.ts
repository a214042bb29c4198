/** Recorded calls with one attack-like change each; as texts, so that numbers and escapes keep their notation. */
import fc from 'fast-check';
import { RPC_METHODS } from '../../../../api/rpc/methods/method-table.ts';
import { rawMember } from '../../../../domain/json/raw-json.ts';
import { readCases } from '../../../../recordings/player/recorded-calls.ts';
import { FLAGS } from './harmless-calls.ts';
import { RECORDING } from './recorded-service.ts';

export interface HostileCall {
  readonly method: string;
  readonly params: string;
}

const NATIVE = 'iJhCezBExJHvtyH3fGhNnt2NhU4Ztkf2yq';
const SAPLING = 'zs1j3y6ksydpt7v7frwh64gqzsmt4dsxjnauygaq9a2fsg74lzs9ww5ljhc34mhmyqzq6a32xagn2g';
const quoted = (text: string) => JSON.stringify(text);

/** JSON texts that replace a value. */
const VALUES: readonly string[] = [
  ...[
    '*',
    'z*',
    'R*',
    'i*',
    '**',
    ' * ',
    SAPLING,
    ` ${SAPLING}`,
    SAPLING.toUpperCase(),
    'alice@:private',
    'alice@:PRIVATE',
  ].map(quoted),
  ...[
    NATIVE,
    ` ${NATIVE} `,
    'VRSCTEST',
    'vRsCtEsT',
    'VRSCTEST@',
    'VRSCTEST.',
    `hex:${'2d4eb6919e9fdbd2934ff24813e5535623ea9ea6'}`,
  ].map(quoted),
  ...[
    '{"address":"*"}',
    '{"address":"z*"}',
    ' {"address":"*"}',
    `["${SAPLING}"]`,
    '{"vdxfuri":"x"}',
    '{"convertto":"*"}',
  ].map(quoted),
  ...[
    '['.repeat(300),
    '['.repeat(30_000),
    '{"a":'.repeat(200),
    '2'.repeat(5000),
    '1'.repeat(20_000),
    'x'.repeat(500),
  ].map(quoted),
  ...[
    '0 3000000 1',
    '1,-1,1',
    '0\t3000000\t1',
    '0,10 3000000',
    '2999999 -1',
    '0,3000000,1',
    '0,3000000',
    ' 0 , 3000000 ',
    '0, 3000000, 1, ',
    '0,3000000 ,',
    '0, 3000000 1',
    ' 5, 9 , 2 ',
    ',,,',
    '0;5',
    '+1',
    '-1',
    '-2',
  ].map(quoted),
  ...[
    '4294967294',
    '18446744073709551615',
    '0x10',
    '1e9',
    '０,３００００００',
    '٣',
    '१',
    ' 5',
    '5 ',
    '1_000',
    '999999999,0',
  ].map(quoted),
  ...[
    'a\u0000',
    '\u0000',
    'a\u0001b',
    'a\nb',
    '\r',
    '\t',
    '\u001f',
    'a\u0085b',
    '\u2028',
    'é',
    '☕ 🎉',
    'Grace Hopper@',
  ].map(quoted),
  ...[
    '-2',
    '-2147483648',
    '4294967294',
    '4294967295',
    '2147483647',
    '99999999999',
    '1e400',
    '-0',
    '-0.0',
    '1.5',
    '1e9',
    '9'.repeat(60),
    '9'.repeat(50),
  ],
  ...['null', 'true', 'false', '[]', '{}', '[[[]]]', '{"a":{"b":1}}', '"true"', '1', '0', '""', '" "'],
  `${'['.repeat(70)}${']'.repeat(70)}`,
  `[${'"a",'.repeat(2000)}"a"]`,
  `[${'1,'.repeat(25_000)}1]`,
  '{"filename":"/etc/passwd"}',
  '{"\\u0066ilename":"/etc/passwd"}',
  '{"address":"*"}',
  `{"address":"${SAPLING}","address":"R9Wg6hDZYpbzuVXgMguXuydfvYt68YrnQ8"}`,
  '{"address":"R9Wg6hDZYpbzuVXgMguXuydfvYt68YrnQ8","address":"*"}',
];

type Change = (text: string) => string;

const inString =
  (change: (inner: string) => string): Change =>
  (text) =>
    text.startsWith('"') ? `"${change(text.slice(1, -1))}"` : text;
const escapeFirst = inString((inner) =>
  inner.replace(/^[ -~]/, (char) => (char === '\\' ? char : `\\u00${char.charCodeAt(0).toString(16)}`)),
);

/** Changes to the existing value. */
const CHANGES: readonly Change[] = [
  inString((inner) => inner.toUpperCase()),
  inString((inner) => inner.toLowerCase()),
  ...[
    ' ',
    '\\t',
    '\\n',
    '\\u0000',
    '\\u0001',
    '\\u0000x',
    ' \\u0000x',
    '\\\\u0000',
    '@:private',
    ':private',
    ',1',
    ' 1',
    '*',
    '\\"',
    '{}',
  ].map((end) => inString((inner) => inner + end)),
  ...[' ', '\\t', '\\u0000', '-', '+', '0x', '[', '{'].map((start) => inString((inner) => start + inner)),
  escapeFirst,
  (text) => `[${text}]`,
  (text) => `[{"label":1},${text}]`,
  (text) => quoted(text),
  (text) => `-${text.replace(/^[-"]/, '').replace(/"$/, '') || 1}`.replace(/^-(?!\d).*/, '-5'),
];

/** The same value, with every nth character of its strings and keys written as an escape. */
const escaped = (text: string, every: number): string =>
  text.replace(/"(?:[^"\\]|\\.)*"/g, (string) =>
    string.replace(/\\(?:u.{4}|.)|[^"\\]/g, (part, at: number) =>
      part.length > 1 || at % every > 0 ? part : `\\u${part.charCodeAt(0).toString(16).padStart(4, '0')}`,
    ),
  );

/** Positions of the values in a JSON text, including whole containers; the parts of a container precede it. */
function places(text: string): readonly (readonly [start: number, end: number])[] {
  const found: [number, number][] = [];
  const walk = (at: number): number => {
    let end = at;
    const open = text[at];
    if (open === '"') {
      end = at + 1;
      while (text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
      end += 1;
    } else if (open === '[' || open === '{') {
      end = at + 1;
      while (text[end] !== ']' && text[end] !== '}') {
        if (/[\s,:]/.test(text[end] ?? '')) end += 1;
        else if (open === '{' && /[{,]\s*$/.test(text.slice(at, end))) end = skipString(text, end);
        else end = walk(end);
      }
      end += 1;
    } else end = at + (/^[^\s,\]}]+/.exec(text.slice(at))?.[0].length ?? 1);
    found.push([at, end]);
    return end;
  };
  walk(0);
  return found;
}

function skipString(text: string, start: number): number {
  let end = start + 1;
  while (text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  return end + 1;
}

/** Some recorded calls of each method, and bare ones. */
function recordedCalls(): ReadonlyMap<string, readonly string[]> {
  const calls = new Map<string, Set<string>>();
  for (const name of Object.keys(RPC_METHODS)) calls.set(name, new Set(['[]', '["x"]', '["x",1,true,false,1]']));
  for (const recorded of readCases(RECORDING)) {
    const method = String(JSON.parse(rawMember(recorded.request, 'method') ?? '""'));
    const params = rawMember(recorded.request, 'params') ?? '[]';
    const known = calls.get(method);
    if (known && known.size < 40 && params.length < 2000) known.add(params);
  }
  return new Map([...calls].map(([method, params]) => [method, [...params]]));
}

/** Chooses every method equally often, however many recorded calls it has. */
export function hostileCalls(): fc.Arbitrary<HostileCall> {
  const recorded = recordedCalls();
  const place = fc.nat();
  const change = fc.oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(...VALUES).map(
        (value): Change =>
          () =>
            value,
      ),
    },
    { weight: 2, arbitrary: fc.constantFrom(...CHANGES) },
    { weight: 1, arbitrary: fc.constant<Change>((text) => text) },
  );
  return fc
    .tuple(
      fc.constantFrom(...recorded.keys()),
      fc.nat(),
      fc.array(fc.tuple(place, change), { minLength: 1, maxLength: 2 }),
      fc.boolean(),
      fc.option(fc.integer({ min: 1, max: 9 }), { freq: 4 }),
    )
    .map(([method, which, changes, isFlagged, escapeEvery]) => {
      const known = recorded.get(method) ?? [];
      const flag = FLAGS[method];
      let params = known[which % known.length] ?? '[]';
      for (const [at, apply] of changes) {
        const found = places(params).slice(0, -1);
        const [start, end] = found[at % Math.max(1, found.length)] ?? [1, 1];
        params = params.slice(0, start) + apply(params.slice(start, end) || '""') + params.slice(end);
      }
      if (flag !== undefined && isFlagged) params = withFlag(params, flag);
      return { method, params: escapeEvery === null || params.length > 500 ? params : escaped(params, escapeEvery) };
    });
}

/** Adds the flag: without it a writing method is refused, so that nothing else about the call would be tested. */
function withFlag(params: string, position: number): string {
  const inner = params.slice(1, -1).trim();
  const top: (readonly [start: number, end: number])[] = [];
  for (const place of places(params).slice(0, -1).reverse()) {
    if (place[1] <= (top[0]?.[0] ?? Number.POSITIVE_INFINITY)) top.unshift(place);
  }
  const missing = Math.max(0, position - top.length);
  if (top.length > position) {
    const [start, end] = top[position] ?? [0, 0];
    return `${params.slice(0, start)}true${params.slice(end)}`;
  }
  return `[${[...(inner ? [inner] : []), ...Array(missing).fill('1'), 'true'].join(',')}]`;
}
