/** POST bodies, well-formed and not, with the daemon's reading of each: the first of a repeated member counts. */
import fc from 'fast-check';
import { RPC_METHODS } from '../../../../api/rpc/methods/method-table.ts';

/** A call as the daemon would read it; null if it refuses the envelope. */
export type Read = { readonly method: string; readonly params: string; readonly id: string } | null;

export interface SentBody {
  readonly text: string;
  /** Undefined when the reading is unpredictable, because random characters were inserted. */
  readonly reads: readonly Read[] | undefined;
}

const WALLET = [
  'stop',
  'dumpprivkey',
  'z_sendmany',
  'signdata',
  'sendtoaddress',
  'constructor',
  '__proto__',
  '',
  'GETINFO',
];
const WRITING = ['sendcurrency', 'registeridentity', 'updateidentity', 'revokeidentity', 'setidentitytimelock'];

const space = fc.constantFrom('', '', '', ' ', '\n', '\t\r ');
const escaped = (text: string) =>
  [...text].map((char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
/** The same string in one of JSON's notations. */
const written = (value: string) =>
  fc.constantFrom(JSON.stringify(value), `"${escaped(value)}"`, JSON.stringify(value).replace('e', '\\u0065'));

const known = [
  ...['true', 'false', 'null', '0', '-1', '1.50', '1e400', '-0.0', '9'.repeat(60), '12345678901234567890'],
  ...['"\\ud83d\\ude00"', '"zs1"', '"VRSCTEST"', '"hex:00"', '"alice@:private"'],
];
const wellFormed = fc.string({ unit: 'binary', maxLength: 8 }).filter((text) => text.isWellFormed());
const scalar = fc.oneof(
  { weight: 20, arbitrary: fc.constantFrom(...known) },
  { weight: 20, arbitrary: wellFormed.chain(written) },
  { weight: 1, arbitrary: fc.constantFrom('"\\ud800"', '"\\udc00\\ud800"') },
);
const key = fc.oneof(
  fc.constantFrom('filename', 'Filename', 'address', 'returntx', 'a', 'a').chain(written),
  fc.string({ maxLength: 5 }).map((text) => JSON.stringify(text)),
);
const list = (open: string, items: readonly string[], close: string, gap: string) =>
  `${open}${gap}${items.join(`${gap},${gap}`)}${gap}${close}`;

const { value } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, scalar, tie('array'), tie('object')),
  array: fc.oneof(
    fc.tuple(fc.array(tie('value'), { maxLength: 6 }), space).map(([items, gap]) => list('[', items, ']', gap)),
    fc.nat({ max: 600 }).map((depth) => '['.repeat(depth + 1) + ']'.repeat(depth + 1)),
  ),
  object: fc.tuple(fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }), space).map(([members, gap]) =>
    list(
      '{',
      members.map(([name, of]) => `${name}${gap}:${gap}${of}`),
      '}',
      gap,
    ),
  ),
}));

const params = fc
  .tuple(
    fc.array(fc.oneof({ weight: 2, arbitrary: value }, { weight: 1, arbitrary: fc.constant('true') }), {
      maxLength: 6,
    }),
    space,
  )
  .map(([items, gap]) => list('[', items, ']', gap));

const methodName = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...Object.keys(RPC_METHODS)) },
  { weight: 3, arbitrary: fc.constantFrom(...WRITING) },
  { weight: 1, arbitrary: fc.constantFrom(...WALLET) },
  { weight: 1, arbitrary: fc.constantFrom(...WRITING).map((name) => `${name}\u0000`) },
);

type Member = readonly [name: string, text: string];

const member: fc.Arbitrary<Member> = fc.oneof(
  fc.tuple(fc.constant('method'), methodName.chain(written)),
  fc.tuple(fc.constant('method'), value),
  fc.tuple(fc.constant('params'), params),
  fc.tuple(fc.constant('params'), value),
  fc.tuple(fc.constant('id'), value),
  fc.tuple(fc.constantFrom('jsonrpc', 'pad', 'Params'), value),
);
const usual = fc.tuple(methodName.chain(written), params, value).map(([method, of, id]): Member[] => [
  ['method', method],
  ['params', of],
  ['id', id],
]);
const members = fc.oneof(
  { weight: 3, arbitrary: usual },
  {
    weight: 1,
    arbitrary: fc.tuple(usual, fc.array(member, { maxLength: 4 })).map(([known, more]) => [...more, ...known]),
  },
  { weight: 1, arbitrary: fc.array(member, { maxLength: 5 }) },
);

function readOf(given: readonly Member[]): Read {
  const first = (name: string) => {
    const text = given.find(([known]) => known === name)?.[1];
    return text === 'null' ? undefined : text;
  };
  const [method, of = '[]', id = 'null'] = [stringIn(first('method')), first('params'), first('id')];
  return method !== null && of.startsWith('[') ? { method, params: of, id } : null;
}

/** Returns null for any other value and for an invalid escape. */
function stringIn(text = 'null'): string | null {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'string' ? parsed : null;
  } catch {
    return null;
  }
}

interface SentCall {
  readonly text: string;
  readonly read: Read;
}

const request: fc.Arbitrary<SentCall> = fc.oneof(
  {
    weight: 9,
    arbitrary: fc.tuple(members, space).chain(([given, gap]) =>
      fc.tuple(...given.map(([name]) => written(name))).map((names) => ({
        text: list(
          '{',
          given.map(([, text], index) => `${names[index]}${gap}:${gap}${text}`),
          '}',
          gap,
        ),
        read: readOf(given),
      })),
    ),
  },
  { weight: 1, arbitrary: value.filter((text) => !text.startsWith('{')).map((text) => ({ text, read: null })) },
);

const single = request.map(({ text, read }): SentBody => ({ text, reads: text.startsWith('[') ? undefined : [read] }));
const batch = fc.tuple(fc.array(request, { maxLength: 7 }), space).map(
  ([calls, gap]): SentBody => ({
    text: list(
      '[',
      calls.map(({ text }) => text),
      ']',
      gap,
    ),
    reads: calls.length > 5 ? [] : calls.map(({ read }) => read),
  }),
);
const broken = fc
  .tuple(
    fc.oneof(single, batch),
    fc.nat(),
    fc.nat({ max: 3 }),
    fc.constantFrom('', '"', '\\', '}', ']', ',', '\u0000', '\ufeff', 'x'),
  )
  .map(([{ text }, at, cut, put]): SentBody => {
    const place = at % (text.length + 1);
    // UTF-8 cannot encode half of a surrogate pair.
    return { text: (text.slice(0, place) + put + text.slice(place + cut)).toWellFormed(), reads: undefined };
  });

export const sentBodies: fc.Arbitrary<SentBody> = fc.oneof(
  { weight: 6, arbitrary: single },
  { weight: 2, arbitrary: batch },
  { weight: 2, arbitrary: broken },
);
