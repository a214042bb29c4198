import { describe, expect, it } from 'vitest';
import type { WorkOwner } from '../access/priority-lanes.ts';
import { chainOfHost } from '../rpc/rpc-routes.ts';
import { matchingEtag } from './etag.ts';
import { createPreparedAnswers } from './prepared-answers.ts';

describe('If-None-Match', () => {
  it.each([
    ['"a"', '"a"'],
    ['W/"a"', '"a"'],
    ['"b", "a"', '"a"'],
    ['"b","a-br"', '"a-br"'],
    ['*', '"a"'],
    ['', null],
    ['"b"', null],
    ['"a-zz"', null],
    ['a', null],
  ])('%s', (sent, matching) => expect(matchingEtag(sent, 'a')).toBe(matching));
});

describe('host names', () => {
  it.each([
    ['chips.rpc.example.org', 'chips'],
    ['CHIPS.rpc.example.org:8080', 'chips'],
    ['rpc.example.org', null],
    ['chips.example.org', null],
    ['nochain.rpc.example.org', 'nochain'],
    ['127.0.0.1:8080', null],
    ['', null],
  ])('%s', (host, chain) => expect(chainOfHost(host)).toBe(chain));
});

describe('prepared answers', () => {
  const body = (text: string) => Buffer.from(text);

  it('are made once for concurrent callers, and kept for their state', async () => {
    const prepared = createPreparedAnswers(10_000);
    let made = 0;
    const work = async () => ({ tag: 't1', body: body(`made ${++made}`) });
    const both = await Promise.all([prepared.make('k', 't1', work), prepared.make('k', 't1', work)]);
    expect(both.map((answer) => String(answer.body))).toEqual(['made 1', 'made 1']);
    expect(prepared.get('k', 't1')?.tag).toBe('t1');
    expect(prepared.get('k', 't2')).toBeUndefined();
  });

  it('are made on the account of a single caller, or of the service once two callers have asked', async () => {
    const prepared = createPreparedAnswers(10_000);
    const [one, other]: WorkOwner[] = ['one', 'other'].map((payer) => ({ lane: 'standard', payer }));
    const owners: string[] = [];
    const ask = async (tag: string, asker: WorkOwner | undefined) => {
      const work = async ({ payer }: WorkOwner) => {
        owners.push(payer);
        return { tag, body: body(tag) };
      };
      return prepared.get('k', tag, asker) ?? (await prepared.make('k', tag, work, asker));
    };
    for (const [tag, asker] of [
      ['t1', one],
      ['t2', one],
      ['t2', other],
      ['t3', one],
      ['t4', other],
    ] as const)
      await ask(tag, asker);
    expect(owners).toEqual(['one', 'one', 'service', 'service']);
  });

  it('are kept up to a number of bytes; the least recently requested are evicted', async () => {
    const prepared = createPreparedAnswers(25_000);
    const large = body('x'.repeat(10_000));
    for (const key of ['a', 'b']) await prepared.make(key, 't', async () => ({ tag: 't', body: large }));
    prepared.get('a', 't');
    await prepared.make('c', 't', async () => ({ tag: 't', body: large }));
    expect(['a', 'b', 'c'].map((key) => prepared.get(key, 't') !== undefined)).toEqual([true, false, true]);
  });

  it('count their keys too: empty answers to long requests also use up the bytes', async () => {
    const prepared = createPreparedAnswers(25_000);
    const keys = ['a', 'b', 'c'].map((letter) => letter.repeat(5_000));
    for (const key of keys) await prepared.make(key, 't', async () => ({ tag: 't', body: body('[]') }));
    expect(keys.map((key) => prepared.latest(key) !== undefined)).toEqual([false, true, true]);
  });

  it('are not kept with 0 bytes', async () => {
    const prepared = createPreparedAnswers(0);
    expect(String((await prepared.make('k', 't', async () => ({ tag: 't', body: body('made') }))).body)).toBe('made');
    expect(prepared.latest('k')).toBeUndefined();
  });

  it('are not kept when they fail', async () => {
    const prepared = createPreparedAnswers(10_000);
    await expect(prepared.make('a', 't', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(String((await prepared.make('a', 't', async () => ({ tag: 't', body: body('ok') }))).body)).toBe('ok');
  });
});
