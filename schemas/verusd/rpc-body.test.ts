import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SEED } from '../../test/setup/seed.ts';
import { collectGarbage } from '../../test/support/collect-garbage.ts';
import {
  MAX_BATCH_BYTES,
  MAX_CALL_BYTES,
  MAX_ID_BYTES,
  MAX_NESTING,
  MAX_PARAMETERS,
  MAX_TOKENS,
  readRpcBody,
} from './rpc-body.ts';
import type { RpcRefusal, RpcRequest } from './rpc-envelope.ts';

const read = (text: string) => readRpcBody(Buffer.from(text));

/** Returns why a single call is not forwarded; null when it is read. */
function faultOf(text: string): readonly [code: number, message: string] | null {
  const body = read(text);
  if (body.kind === 'batch') throw new Error('a batch');
  const fault = body.request.kind === 'refusal' ? body.request : body.request.fault;
  return fault && [fault.code, fault.message];
}

const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

describe('bounds', () => {
  test('nesting, wherever it is', () => {
    const places = [
      (value: string) => `{"method":"x","params":${value}}`,
      (value: string) => `{"method":"x","id":${value}}`,
      (value: string) => `{"method":"x","pad":${value}}`,
      (value: string) => `{"pad":${value},"method":"x"}`,
    ];
    for (const place of places) {
      expect(faultOf(place(nested(MAX_NESTING - 1)))).toBeNull();
      expect(faultOf(place(nested(MAX_NESTING)))).toEqual([-32700, 'Parse error: brackets may be nested 64 deep']);
      expect(faultOf(place(`{"a":${nested(MAX_NESTING)}}`.replace(/^\{"a":(.*)\}$/, '[{"a":$1}]')))?.[0]).toBe(-32700);
      expect(faultOf(place(nested(100_000)))?.[0]).toBe(-32700);
    }
  });

  test('values and keys', () => {
    const call = (count: number) => `{"method":"x","params":[[${Array(count).fill('1').join(',')}]]}`;
    expect(faultOf(call(MAX_TOKENS - 10))).toBeNull();
    expect(faultOf(call(MAX_TOKENS))).toEqual([-32700, 'Parse error: a call may hold 20000 values and keys']);
  });

  test('an id, in bytes', () => {
    const call = (id: string) => `{"id":${JSON.stringify(id)},"method":"x"}`;
    expect(faultOf(call('x'.repeat(MAX_ID_BYTES - 2)))).toBeNull();
    expect(faultOf(call('x'.repeat(MAX_ID_BYTES - 1)))).toEqual([-32600, 'id may have 1024 bytes']);
    expect(faultOf(call('☕'.repeat(342)))).toEqual([-32600, 'id may have 1024 bytes']);
    expect(faultOf('{"id":"a\\u0000","method":"x"}')).toEqual([-32600, 'id may not hold the character U+0000']);
    expect(faultOf('{"id":"a\\n\\\\u0000","method":"x"}')).toBeNull();
  });

  test('parameters', () => {
    const call = (count: number) => `{"method":"x","params":[${Array(count).fill('1').join(',')}]}`;
    expect(faultOf(call(MAX_PARAMETERS))).toBeNull();
    expect(faultOf(call(MAX_PARAMETERS + 1))).toEqual([-1, 'A call may have 32 parameters']);
    expect(faultOf('{"method":"x","params":[{"a":"b\\u0000"}]}')).toEqual([
      -8,
      'No text may hold the character U+0000',
    ]);
  });

  test('a transaction of 2 MB is read, a call with a byte too many is not', () => {
    const call = (digits: number) =>
      `{"jsonrpc":"1.0","id":"x","method":"sendrawtransaction","params":["${'a'.repeat(digits)}"]}`;
    expect(faultOf(call(4_000_000))).toBeNull();
    const most = MAX_CALL_BYTES - call(0).length;
    expect(faultOf(call(most))).toBeNull();
    expect(faultOf(call(most + 1))).toEqual([-32600, `A call may have ${MAX_CALL_BYTES} bytes`]);
  });

  test('a batch as a whole, and each of its calls', () => {
    const call = (digits: number) => `{"method":"x","params":["${'a'.repeat(digits)}"]}`;
    const two = read(`[${call(4_000_000)},${call(4_000_000)}]`);
    expect(two.kind === 'batch' && two.requests.map(({ kind }) => kind)).toEqual(['request', 'request']);
    const one = read(`[${call(MAX_CALL_BYTES)},${call(1)}]`);
    expect(one.kind === 'batch' && one.requests.map(({ kind }) => kind)).toEqual(['refusal', 'request']);
    expect(faultOf(`[${call(MAX_BATCH_BYTES)}]`)).toEqual([-32600, `A batch may have ${MAX_BATCH_BYTES} bytes`]);
  });
});

test(`the first of a repeated member counts, whatever surrounds it (seed ${SEED})`, () => {
  const value = fc.json({ maxDepth: 3 });
  fc.assert(
    fc.property(value, fc.array(value, { maxLength: 4 }), fc.constantFrom('', ' ', '\n\t'), (id, params, gap) => {
      const body = read(
        `${gap}{"id"${gap}:${id},"method":"x"${gap},"params":${gap}[${params.join(`${gap},`)}${gap}],"id":1,"params":[7]}${gap}`,
      );
      const { texts, sentId } = (body as { request: RpcRequest }).request;
      expect(texts).toEqual(params.map((text) => text.trim()));
      expect(sentId).toBe(id.trim() === 'null' ? 'null' : id.trim());
    }),
    { seed: SEED },
  );
});

test(`the checks of parameters see one notation of a string, whatever was escaped (seed ${SEED})`, () => {
  const asEscape = (char: string) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const written = fc.array(fc.tuple(fc.string({ unit: 'binary-ascii', minLength: 1, maxLength: 1 }), fc.boolean()));
  fc.assert(
    fc.property(written, (characters) => {
      const value = characters.map(([char]) => char).join('');
      const inner = characters.map(([char, isEscaped]) =>
        isEscaped ? asEscape(char) : JSON.stringify(char).slice(1, -1),
      );
      const params = `["${inner.join('')}","\\/",["\\u0061"]]`;
      const { request } = read(`{"method":"x","params":${params}}`) as { request: RpcRequest };
      expect(request.texts).toEqual([JSON.stringify(value), '"/"', '["\\u0061"]']);
      expect(request.params).toBe(params);
    }),
    { seed: SEED },
  );
});

test.each(['[],', '1,', '"",', '{},', '{"a":1},', '[', '"a', '\\', ' ', '\u00e9', '9'])(
  'megabytes of %j take little memory',
  (unit) => {
    const before = process.memoryUsage().rss;
    for (const head of ['{"method":"x","params":[', '{"method":"x","id":[', '[', '{"a":"']) {
      const body = read(`${head}${unit.repeat(Math.floor(4_000_000 / Buffer.byteLength(unit)))}`);
      expect((body as { request: RpcRefusal }).request.kind).toBe('refusal');
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024);
  },
);

test('texts that are kept from a long body do not keep the rest of it', () => {
  const kept: unknown[] = [];
  collectGarbage();
  const before = process.memoryUsage().heapUsed;
  for (let count = 0; count < 20; count++) {
    const call = `{"method":"getblockheader","params":["${String(count).padStart(64, '0')}"],"id":"${'i'.repeat(20)}${count}"}`;
    const body = read(`[${call}${' '.repeat(4_000_000)}]`) as { requests: readonly (RpcRequest | RpcRefusal)[] };
    expect(body.requests[0]?.kind).toBe('request');
    kept.push(body);
  }
  collectGarbage();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(10_000_000);
  expect(kept).toHaveLength(20);
});
