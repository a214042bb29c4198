/** Lists as CSV and NDJSON contain all rows of the pages, in their order. */
import { describe, expect, it } from 'vitest';
import { parseExact } from '../../../domain/json/exact-json.ts';
import { readCsv } from '../../support/api/http/read-csv.ts';
import type { TestClient } from '../client.ts';
import type { LooseJson } from '../truth.ts';

const ADDRESS = 'RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V';

/** Lines as objects with the names of the first line. */
function recordsOf(text: string): Record<string, string>[] {
  const [header = [], ...lines] = readCsv(text);
  return lines.map((line) => Object.fromEntries(header.map((name, index) => [name, line[index] ?? ''])));
}

export function streamsConform(client: TestClient): void {
  describe('lists as streams', () => {
    it.each([
      '/api/conversions/',
      '/api/conversions/?status=refunded',
      '/api/blocks/',
      '/api/stakes/',
      '/api/identity/',
      '/api/bridge/recent',
      '/api/identity/bob@/changes',
      `/api/address/${ADDRESS}`,
      `/api/address/${ADDRESS}/rewards`,
    ])('%s', async (path) => {
      const join = path.includes('?') ? '&' : '?';
      const rows = await client.walk(path, 200);
      const lines = await client.raw(`${path}${join}format=ndjson`);
      expect(lines.headers.get('content-type')).toBe('application/x-ndjson; charset=utf-8');
      const received = (await lines.text()).split('\n');
      expect(received.pop()).toBe('');
      expect(received.map((line) => parseExact(line))).toEqual(rows);
      const table = await client.raw(`${path}${join}format=csv`);
      expect(table.headers.get('content-type')).toBe('text/csv; charset=utf-8');
      const records = recordsOf(await table.text());
      expect(records.length).toBe(rows.length);
      for (const [index, row] of rows.entries()) {
        for (const [name, value] of Object.entries<LooseJson>(row)) {
          const text =
            value === null ? '' : typeof value === 'object' && !('isLosslessNumber' in value) ? null : String(value);
          if (text !== null) expect([name, records[index]?.[name]]).toEqual([name, text]);
        }
      }
    });

    it.each([
      ['/api/market/volume', null],
      ['/api/market/pairs', null],
      ['/api/market/baskets/PureTri/reserves?days=30', 'data'],
      ['/api/market/prices/usdx/history?days=3', 'data'],
      ['/api/market/prices/vrsctest/candles', 'data'],
      ['/api/stats/charts?metric=transactions', 'data'],
      ['/api/conversions/summary', 'days'],
      [`/api/address/${ADDRESS}/series`, 'data'],
      ['/api/currency/usdx/holders?height=900', 'results'],
      ['/api/oracle/prices?height=900', null],
    ] as const)('the rows of %s', async (path, member) => {
      const join = path.includes('?') ? '&' : '?';
      const answer = await client.json(path);
      const rows: LooseJson[] = member === null ? answer : answer[member];
      expect(rows.length).toBeGreaterThan(0);
      const lines = (await (await client.raw(`${path}${join}format=ndjson`)).text()).trimEnd().split('\n');
      expect(lines.map((line) => parseExact(line))).toEqual(rows);
      const records = recordsOf(await (await client.raw(path, { headers: { Accept: 'text/csv' } })).text());
      expect(records.map((record) => Object.keys(record))).toEqual(rows.map((row) => Object.keys(row)));
    });

    it('the history of a price, however long', async () => {
      const path = '/api/oracle/prices/usdx/history?interval=block';
      const every: LooseJson[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: LooseJson = await client.json(`${path}&limit=1000${cursor === '' ? '' : `&cursor=${cursor}`}`);
        every.push(...page.data);
        cursor = page.nextCursor;
      }
      const lines = (await (await client.raw(`${path}&format=ndjson`)).text()).trimEnd().split('\n');
      expect(every.length).toBeGreaterThan(1000);
      expect(lines.map((line) => parseExact(line))).toEqual(every);
    });

    it('numbers=text: the same answer, each number a string of its digits', async () => {
      const texts = (value: LooseJson): LooseJson => {
        if (Array.isArray(value)) return value.map(texts);
        if (value === null || typeof value !== 'object') return typeof value === 'number' ? String(value) : value;
        if ('isLosslessNumber' in value) return value.value;
        return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, texts(member)]));
      };
      for (const path of [
        '/api/conversions/?pageSize=3',
        '/api/oracle/prices',
        '/api/currency/PureTri',
        '/api/market/pairs',
        '/api/blocks/900',
        '/api/market/protocol',
      ]) {
        const join = path.includes('?') ? '&' : '?';
        const answer = await client.raw(`${path}${join}numbers=text`);
        expect(answer.headers.get('content-type')).toBe('application/vnd.verustream.text+json; charset=utf-8');
        const { nextCursor: _, ...text } = (await answer.json()) as LooseJson;
        const { nextCursor: __, ...wanted } = texts(await client.json(path));
        expect([path, text]).toEqual([path, wanted]);
      }
      const line = (await (await client.raw('/api/blocks/?format=ndjson&numbers=text')).text()).split('\n')[0] ?? '';
      expect(typeof JSON.parse(line).height).toBe('string');
      const live = (await (await client.raw('/api/blocks/900/raw?numbers=text')).json()) as LooseJson;
      expect(JSON.stringify(live)).not.toMatch(/[:[]\d/);
      expect(await client.status('/api/blocks/?numbers=double')).toBe(400);
      expect(await client.status('/metrics?numbers=text')).toBe(400);
    });

    it('by Accept, after a cursor, and refused before they begin', async () => {
      const accept = async (type: string) =>
        (await client.raw('/api/conversions/', { headers: { Accept: type } })).headers.get('content-type');
      expect(await accept('text/csv')).toBe('text/csv; charset=utf-8');
      expect(await accept('application/x-ndjson, text/csv;q=0.9')).toBe('application/x-ndjson; charset=utf-8');
      expect(await accept('application/json, text/csv')).toBe('application/json; charset=utf-8');
      expect(await accept('*/*')).toBe('application/json; charset=utf-8');
      const page = await client.json('/api/conversions/?pageSize=5');
      const rest = await (await client.raw(`/api/conversions/?format=ndjson&cursor=${page.nextCursor}`)).text();
      expect(rest.split('\n').length - 1).toBe(page.total - 5);
      for (const wrong of ['format=xml', 'format=csv&page=2', 'format=csv&cursor=x', 'format=csv&from=nosuch']) {
        const answer = await client.raw(`/api/conversions/?${wrong}`);
        expect([wrong, answer.headers.get('content-type')]).toEqual([wrong, 'application/problem+json']);
      }
      const head = await client.raw('/api/conversions/?format=csv', { method: 'HEAD' });
      expect([head.status, await head.text()]).toEqual([200, '']);
    });
  });
}
