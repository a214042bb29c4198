/** The worker thread reads replies to batches correctly, and starts and ends with them. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { BatchReaderEnded, createBatchReader } from './batch-reader.ts';
import type { BatchCalls } from './batch-reply.ts';

/** Every reply goes to the thread. */
const OPTIONS = { idleMs: 50, atOnceBytes: -1 };
let threads: Worker[] = [];
let reader = createBatchReader(OPTIONS);

const started = (thread: Worker) => threads.push(thread);
beforeEach(() => {
  threads = [];
  reader = createBatchReader(OPTIONS);
  process.on('worker', started);
});
afterEach(async () => {
  process.off('worker', started);
  await reader.close();
});

const MEMBERS = ['a', 'b', 'c'];
/** A result, or the code of an error. */
type Reply = { readonly result: unknown } | { readonly code: number };

const json = fc.oneof(fc.jsonValue(), fc.dictionary(fc.constantFrom(...MEMBERS, 'd'), fc.jsonValue()));
const reply: fc.Arbitrary<Reply> = fc.oneof(
  { weight: 4, arbitrary: json.map((result) => ({ result: result ?? 0 })) },
  { weight: 1, arbitrary: fc.record({ code: fc.integer() }) },
);
const batch = fc.array(reply, { minLength: 1, maxLength: 6 });

function asSent(replies: readonly Reply[], ids: readonly number[]): Buffer {
  const texts = replies.map((each, index) => {
    const [result, error] = 'code' in each ? [null, { code: each.code, message: 'no' }] : [each.result, null];
    return `{"result":${JSON.stringify(result)},"error":${JSON.stringify(error)},"id":${ids[index]}}`;
  });
  return Buffer.from(`[${texts.join(',')}]\n`);
}

const emptied = (value: unknown) =>
  Array.isArray(value) ? [] : typeof value === 'object' && value !== null ? {} : value;
const memberOf = (value: unknown, name: string) =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as never)[name] : undefined;

async function readOf(replies: readonly Reply[], index: number) {
  const ids = replies.map((_, at) => 10 ** 12 * (index + 1) + at);
  const { body, results, garbage } = await reader.read(asSent(replies, ids), { ids, members: MEMBERS });
  expect(garbage).toBeNull();
  return results.map((found) => found && { text: body.toString('utf8', found.begin, found.end), ...found });
}

it('finds the bytes and members of each result, whatever other replies wait', () =>
  fc.assert(
    fc.asyncProperty(fc.array(batch, { minLength: 1, maxLength: 4 }), async (batches) => {
      const read = await Promise.all(batches.map(readOf));
      for (const [at, replies] of batches.entries()) {
        for (const [index, each] of replies.entries()) {
          const found = read[at]?.[index];
          if ('code' in each) expect(found).toBeNull();
          else
            expect(found).toMatchObject({
              text: JSON.stringify(each.result),
              members: MEMBERS.map((name) => emptied(memberOf(each.result, name))),
            });
        }
      }
    }),
  ));

it.each([
  ['is truncated', '[{"result":1,"error":null,"id":7}'],
  ['has another id', '[{"result":1,"error":null,"id":8}]'],
  ['contains a result that is not JSON', '[{"result":{"a":},"error":null,"id":7}]'],
  ['contains neither result nor error', '[{"id":7}]'],
  ['has the form of a proxy', '[{"jsonrpc":"2.0","result": 1,"id":7}]'],
])('a reply that %s is garbage as a whole', async (_, body) => {
  const read = await reader.read(Buffer.from(body), { ids: [7], members: [] });
  expect(read).toMatchObject({ garbage: expect.any(String), results: [] });
});

it('an empty reply is garbage, each time', async () => {
  const empty = Buffer.alloc(0);
  for (let time = 0; time < 2; time++) {
    expect(await reader.read(empty, { ids: [7], members: [] })).toMatchObject({ garbage: expect.any(String) });
    expect(empty.at(-1)).toBeUndefined();
  }
});

it('a small reply starts no thread', async () => {
  reader = createBatchReader();
  await one();
  expect(threads).toEqual([]);
});

it('does not transfer memory that also contains other bytes', async () => {
  const text = '[{"result":"x","error":null,"id":7}]';
  const memory = Buffer.from(`before${text}after`);
  const body = memory.subarray('before'.length, -'after'.length);
  expect((await reader.read(body, { ids: [7], members: [] })).body.toString()).toBe(text);
  expect(memory.toString()).toBe(`before${text}after`);
});

const one = () => readOf([{ result: { a: 1 } }], 0);

it('a thread that fails rejects its pending replies, and the next reply starts another thread', async () => {
  const wrong = { ids: null, members: [] } as unknown as BatchCalls;
  const asked = [reader.read(Buffer.from('[]'), wrong), one()];
  for (const each of asked) await expect(each).rejects.toBeInstanceOf(BatchReaderEnded);
  await expect(one()).resolves.toMatchObject([{ members: [1, undefined, undefined] }]);
  expect(threads).toHaveLength(2);
});

it('a reply that cannot be sent to the thread is a retryable error', async () => {
  const uncloneable = { ids: [() => 7], members: [] } as unknown as BatchCalls;
  await expect(reader.read(Buffer.from('[]'), uncloneable)).rejects.toBeInstanceOf(BatchReaderEnded);
  await expect(one()).resolves.toHaveLength(1);
});

it('a reply that is pending at close is a retryable error', async () => {
  const asked = expect(one()).rejects.toMatchObject({ code: 'batch_reader_ended' });
  await reader.close();
  await asked;
});

it('the thread ends when it has been idle for a while, and starts again', async () => {
  await one();
  await one();
  expect(threads).toHaveLength(1);
  await once(threads[0] as Worker, 'exit');
  await one();
  expect(threads).toHaveLength(2);
});

it('an idle thread lets the process end', async () => {
  const code = `import { createBatchReader } from '${new URL('./batch-reader.ts', import.meta.url)}';
    await createBatchReader({ idleMs: 600_000, atOnceBytes: -1 }).read(Buffer.from('[{"result":1,"error":null,"id":7}]'), { ids: [7], members: [] });`;
  const ended = new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`));
  expect(await once(ended, 'exit')).toEqual([0]);
});
