/** Features of every list: a span of heights, pages in both directions, and links to other pages. */
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../client.ts';
import { ALICE } from '../running-service.ts';
import { type LooseJson, tip } from '../truth.ts';

const ADDRESS = 'RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V';

/** Each list, and the member of its rows that contains the height. */
const LISTS: readonly (readonly [path: string, height: string])[] = [
  ['/api/blocks/', 'height'],
  ['/api/blocks/?validationType=work', 'height'],
  ['/api/stakes/', 'height'],
  [`/api/stakes/?address=${ADDRESS}`, 'height'],
  [`/api/address/${ADDRESS}`, 'height'],
  [`/api/address/${ADDRESS}/rewards`, 'height'],
  [`/api/address/${ALICE}/conversions`, 'height'],
  ['/api/conversions/', 'height'],
  ['/api/conversions/?status=completed&sort=oldest', 'height'],
  ['/api/bridge/recent', 'height'],
  ['/api/identity/', 'registeredAt'],
  ['/api/identity/?status=unlocked', 'registeredAt'],
  ['/api/identity/events', 'height'],
  ['/api/identity/bob@/changes', 'height'],
  ['/api/currency/', 'definitionHeight'],
  ['/api/reorgs/', 'forkHeight'],
];

export function listsConform(client: TestClient): void {
  describe('a list', () => {
    it.each(LISTS)('%s keeps to a span of heights', async (path, height) => {
      const and = (query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`;
      const rows = await client.walk(path, 200);
      const heights = rows.map((row) => row[height]).sort((a, b) => a - b);
      const [from, to] = [heights[Math.floor(heights.length / 4)] ?? 0, heights[Math.ceil(heights.length / 2)] ?? tip];
      for (const [query, wanted] of [
        [`fromHeight=${from}`, rows.filter((row) => row[height] >= from)],
        [`toHeight=${to}`, rows.filter((row) => row[height] <= to)],
        [`fromHeight=${from}&toHeight=${to}`, rows.filter((row) => row[height] >= from && row[height] <= to)],
      ] as const) {
        expect(await client.walk(and(query), 90), query).toEqual(wanted);
        expect((await client.json(and(`${query}&page=1`))).total, query).toBe(wanted.length);
      }
      const wrong = await client.raw(and('fromHeight=9&toHeight=8'));
      expect([wrong.status, ((await wrong.json()) as LooseJson).errors[0].pointer]).toEqual([400, '/fromHeight']);
    });

    it.each(LISTS)('%s has pages in both directions, and links to them', async (path) => {
      const and = (query: string) => `${path}${path.includes('?') ? '&' : '?'}${query}`;
      const pages: LooseJson[] = [];
      let cursor: string | null = null;
      do {
        const page: LooseJson = await client.json(and(`pageSize=7${cursor === null ? '' : `&cursor=${cursor}`}`));
        pages.push(page);
        cursor = pages.length < 4 ? page.nextCursor : null;
      } while (cursor !== null);
      expect(pages[0].prevCursor).toBeNull();
      for (let n = pages.length - 1; n > 0; n--) {
        const back = await client.json(and(`pageSize=7&cursor=${pages[n].prevCursor}`));
        expect([back.results, back.page]).toEqual([pages[n - 1].results, null]);
        expect(back.prevCursor === null).toBe(n === 1);
        const forth = await client.json(and(`pageSize=7&cursor=${back.nextCursor}`));
        expect(forth.results).toEqual(pages[n].results);
      }
      const second = await client.raw(and(`pageSize=7&cursor=${pages[1]?.prevCursor ?? pages[0].nextCursor ?? ''}`));
      if (pages.length === 1) return;
      const links = new Map(
        [...(second.headers.get('link') ?? '').matchAll(/<([^>]*)>; rel="(\w+)"/g)].map(([, to = '', rel = '']) => [
          rel,
          to,
        ]),
      );
      expect([...links.keys()]).toEqual(['first', 'next']);
      expect((await client.json(links.get('next') ?? '')).results).toEqual(pages[1].results);
      expect((await client.json(links.get('first') ?? '')).results).toEqual(pages[0].results);
    });

    it('as a stream has one direction only', async () => {
      const { prevCursor } = await client.json('/api/blocks/?page=3');
      const answer = await client.raw(`/api/blocks/?format=csv&cursor=${prevCursor}`);
      expect([answer.status, ((await answer.json()) as LooseJson).errors[0].pointer]).toEqual([400, '/cursor']);
    });
  });
}
