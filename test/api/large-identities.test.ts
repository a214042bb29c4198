/** Identities with more, larger or deeper updates than an answer may contain: refused before they are read, and answered in parts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MOST_NAMED } from '../../api/rest/identities/tree-routes.ts';
import { MOST_BYTES, MOST_ROWS } from '../../api/state/measured-rows.ts';
import { nameToAddress } from '../../domain/names.ts';
import { createClient } from './client.ts';
import { copies, FIRST, insertUpdates } from './made-updates.ts';
import { recordReaderStatements } from './reader-statements.ts';
import { ALICE, type RunningService, startService } from './running-service.ts';
import type { LooseJson } from './truth.ts';

const START = 600;
const KEY = 'iK7a5JNJnbeuYWVHCDRpJosj3irGJ5Qa8c';

let service: RunningService;
const client = createClient(() => service.url);

beforeAll(async () => {
  service = await startService({ startHeight: START });
  await service.settled();
});

afterAll(() => service?.stop());

const addressOf = (name: string) => nameToAddress(`${name}@`, 'VRSCTEST') ?? '';
const hexOf = (text: string) => Buffer.from(text).toString('hex');

const CHILDREN = copies(`'identity_address', 'child' || at, 'parent', $1::text, 'to_height', null, 'referral', null`);

/** Makes updates from one number to another, each with the same content and changes. The next block makes them known. */
async function update(name: string, first: number, last: number, content: string): Promise<void> {
  const { pool } = service.stores.postgres;
  const address = addressOf(name);
  await insertUpdates(pool, address, first, last);
  const {
    rows: [alice],
  } = await pool.query(`SELECT state FROM identities WHERE identity_address = '${ALICE}' LIMIT 1`);
  const { contentmultimap, ...state } = JSON.parse(alice.state);
  const values = JSON.stringify({ ...state, contentmultimap: 0 }).replace('"contentmultimap":0', () => {
    return `"contentmultimap":{"${KEY}":[${content}]}`;
  });
  const changes = `[{"field":"contentmultimap","old":{},"new":{"${KEY}":[${content}]}}]`;
  await pool.query(
    'UPDATE identities SET state = $2::json, changes = $3::json WHERE identity_address = $1 AND tx_index BETWEEN $4 AND $5',
    [address, values, changes, first, last],
  );
}

async function nextBlock(): Promise<void> {
  service.node.step();
  await service.settled();
}

async function history(...params: unknown[]): Promise<LooseJson> {
  const body = JSON.stringify({ id: 1, method: 'getidentityhistory', params });
  return (await client.raw('/', { method: 'POST', body })).json();
}

async function refusal(path: string): Promise<string> {
  const answer = await client.raw(path);
  const { code, detail } = (await answer.json()) as LooseJson;
  expect([answer.status, code], path).toEqual([400, 'answer_too_large']);
  return detail;
}

async function refusesWhole(name: string): Promise<void> {
  const { result, error } = await history(`${name}@`);
  expect(result).toBeNull();
  expect(error).toMatchObject({ code: -8, message: expect.stringMatching(/2000 .* 4194304 bytes .*heightstart/) });
  expect(await refusal(`/api/identity/${name}@/changes`)).toMatch(/2000 .* 4194304 bytes .*pageSize.*fromHeight/);
  expect(await refusal(`/api/identity/${name}@/multimap?mode=aggregate`)).toMatch(/2000 .* 4194304 bytes .*fromHeight/);
}

async function answersWhole(name: string, updates: number): Promise<void> {
  expect((await history(`${name}@`)).result).toHaveLength(updates);
  expect(await client.json(`/api/identity/${name}@/changes`)).toHaveLength(updates);
  const { contentmultimap } = await client.json(`/api/identity/${name}@/multimap?mode=aggregate`);
  expect(contentmultimap[KEY]).toHaveLength(updates);
}

describe('updates of an identity', () => {
  it('are in one answer up to a number; one more is refused, and all come in parts', async () => {
    await update('many', 1, MOST_ROWS, '"00"');
    await nextBlock();
    await answersWhole('many', MOST_ROWS);
    await update('many', MOST_ROWS + 1, MOST_ROWS + 1, '"00"');
    await nextBlock();
    await refusesWhole('many');

    const middle = FIRST + 100;
    const parts = [await history('many@', 0, middle), await history('many@', middle + 1, -1)];
    expect(parts.flatMap(({ result }) => result)).toHaveLength(MOST_ROWS + 1);
    const pages = await client.walk('/api/identity/many@/changes', 200);
    const ranges = [
      await client.json(`/api/identity/many@/changes?fromHeight=${middle}`),
      await client.json(`/api/identity/many@/changes?toHeight=${middle - 1}`),
    ].flat();
    expect(pages).toHaveLength(MOST_ROWS + 1);
    expect(ranges).toEqual(pages);
    const path = `/api/identity/many@/multimap?mode=aggregate&fromHeight=${middle}`;
    expect((await client.json(path)).contentmultimap[KEY]).toHaveLength(MOST_ROWS + 1 - 999);
  });

  it('are limited by size, too: several large ones are refused, and each one is answered', async () => {
    const large = `"${'00'.repeat(MOST_BYTES / 4)}"`;
    await update('large', 1, 1, '"00"');
    await update('large', 11, 11, large);
    await nextBlock();
    await answersWhole('large', 2);
    await update('large', 21, 22, large);
    await nextBlock();
    await refusesWhole('large');
    expect((await history('large@', 0, FIRST + 1)).result).toHaveLength(2);

    await update('huge', 1, 1, `"${'00'.repeat(MOST_BYTES)}"`);
    await nextBlock();
    await answersWhole('huge', 1);
    await update('huge', 11, 11, '"00"');
    await nextBlock();
    await refusesWhole('huge');
  });

  it('are read within the time limit of all reads', async () => {
    const statements = recordReaderStatements();
    await history('alice@');
    const asked = statements.take().map(({ text }) => text);
    statements.stop();
    expect(asked.filter((text) => text.includes('FROM identities'))).not.toHaveLength(0);
  });

  it('are shown however deeply their content is nested', async () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    await update('deep', 1, 2, `${nested(5_000)},"${hexOf(nested(5_000))}","${hexOf('{"a":1}')}"`);
    await nextBlock();
    for (const path of ['', '/changes', '/multimap', '/multimap?mode=aggregate'])
      await client.json(`/api/identity/deep@${path}`);
    const { contentmultimap, decoded } = await client.json('/api/identity/deep@/multimap');
    expect(decoded).toEqual({ [KEY]: [{ a: 1 }] });
    expect(contentmultimap[KEY].slice(1)).toEqual([hexOf(nested(5_000)), hexOf('{"a":1}')]);
  });

  it('are shown by their transactions, too', async () => {
    const { pool } = service.stores.postgres;
    const deep = `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`;
    const {
      rows: [output],
    } = await pool.query(
      `UPDATE outputs SET data = $1::json WHERE (txid, n) = (SELECT txid, n FROM outputs WHERE data IS NOT NULL LIMIT 1)
        RETURNING encode(txid, 'hex') AS txid, n`,
      [deep],
    );
    await nextBlock();
    const { outputs } = await client.json(`/api/tx/${output.txid}`);
    const { data } = outputs.find(({ n }: LooseJson) => n === output.n);
    expect(JSON.stringify(data)).toContain('[[[');
  });
});

describe('identities below a parent', () => {
  it('are in one answer up to a number; one more is refused, and the refusal names the method with pages', async () => {
    await update('parent', 1, 1, '"00"');
    const { pool } = service.stores.postgres;
    await pool.query(CHILDREN, [addressOf('parent'), 1, MOST_NAMED - 2]);
    for (const child of ['a', 'b']) {
      await update(child, 1, 1, '"00"');
      await pool.query('UPDATE identities SET referral = $2 WHERE identity_address = $1', [
        addressOf(child),
        addressOf('parent'),
      ]);
    }
    await nextBlock();
    const { subIds, levels } = await client.json('/api/identity/parent@/referrals');
    expect([subIds.length, levels]).toEqual([MOST_NAMED - 2, [2, 0, 0]]);
    await pool.query(CHILDREN, [addressOf('parent'), MOST_NAMED - 1, MOST_NAMED - 1]);
    await nextBlock();
    expect(await refusal('/api/identity/parent@/referrals')).toMatch(/20000 .*getsubidentities/);
    await pool.query(CHILDREN, [addressOf('parent'), MOST_NAMED, MOST_NAMED + 10]);
    await nextBlock();
    expect(await refusal('/api/identity/parent@/referrals')).toMatch(/20000 .*getsubidentities/);
  });
});
