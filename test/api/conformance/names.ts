/** Names of i-addresses, and suggestions for what was typed so far. */
import { describe, expect, it } from 'vitest';
import { foldCase } from '../../../domain/names.ts';
import type { TestClient } from '../client.ts';
import { CHAIN, NATIVE } from '../running-service.ts';
import { type LooseJson, truth } from '../truth.ts';

export function namesConform(client: TestClient): void {
  const identities: LooseJson[] = truth('identities.json.gz').map(({ id, latest }: LooseJson) => ({
    id,
    name: latest.fullyqualifiedname.replace(/@$/, ''),
  }));
  const recorded: LooseJson[] = Object.values(truth('supply.json').currencies);
  const currencies = new Map(recorded.map(({ currencyid: id, ...definition }) => [id, definition]));
  const kindOf = (id: string) => {
    const definition = currencies.get(id);
    if (!definition) return 'identity';
    return definition.options & 1 ? 'basket' : 'currency';
  };

  describe('names', () => {
    const UNKNOWN = 'i5v3h9FWVdRFbNHU7DfcpGykQjRaHtMqu7';

    it('are those of identities and currencies, in the order of the request', async () => {
      const ids = [...new Set([UNKNOWN, NATIVE, ...identities.map(({ id }) => id)])];
      expect(ids.length).toBeLessThanOrEqual(100);
      const { results } = await client.json(`/api/names?ids=${[...ids, NATIVE].join(',')}`);
      expect(results.map(({ id }: LooseJson) => id)).toEqual(ids);
      expect(results[0]).toEqual({ id: UNKNOWN, name: null, kind: null, chain: null });
      for (const { id, name, kind, chain } of results.slice(1)) {
        const known = currencies.get(id)?.fullyqualifiedname ?? identities.find((identity) => identity.id === id)?.name;
        expect([id, name, kind, chain]).toEqual([id, known, kindOf(id), CHAIN]);
      }
    });

    it.each([
      ['nothing', ''],
      ['an R-address', 'RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V'],
      ['a wrong checksum', `${NATIVE.slice(0, -1)}z`],
      ['an empty place', `${NATIVE},`],
      ['101 of them', Array.from({ length: 101 }, () => NATIVE).join(',')],
      ['a NUL', `${NATIVE}%00`],
      ['hostile text', encodeURIComponent("'; DROP TABLE identities; --\u202e")],
    ])('refuse %s', async (_what, ids) => {
      const answer = await client.raw(`/api/names?ids=${ids}`);
      expect([answer.status, ((await answer.json()) as LooseJson).errors[0].pointer]).toEqual([400, '/ids']);
    });
  });

  describe('a search that finds nothing', () => {
    const searched = (query: string): Promise<LooseJson> => client.json(`/api/search/?q=${encodeURIComponent(query)}`);
    const labelsOf = (hits: readonly LooseJson[]) => hits.map(({ label }) => label);

    it('suggests similar names', async () => {
      for (const [query, label] of [
        ['alise@', 'alice.VRSCTEST@'],
        ['bobb', 'bob.VRSCTEST@'],
        ['PureTry', 'PureTri'],
        ['VRSCTESTT', 'VRSCTEST'],
      ] as const) {
        const { results, near } = await searched(query);
        expect(results, query).toEqual([]);
        expect(labelsOf(near), query).toContain(label);
        for (const { url } of near) expect(await client.status(url)).toBe(200);
      }
    });

    it('suggests none if nothing is similar, and none next to results', async () => {
      for (const query of ['nothing like it', 'x', '99999999', 'a'.repeat(64), "'; DROP TABLE identities; --"]) {
        expect((await searched(query)).near, query).toEqual([]);
      }
      const { results, near } = await searched('alice@');
      expect([results.length > 0, near]).toEqual([true, []]);
    });
  });

  describe('suggestions', () => {
    const suggested = async (query: string): Promise<LooseJson[]> =>
      (await client.json(`/api/search/suggest?q=${encodeURIComponent(query)}`)).results;
    const labels = (prefix: string) => {
      const named = identities.filter(({ id }) => !currencies.has(id)).map(({ name }) => `${name}@`);
      const defined = recorded.map(({ fullyqualifiedname }) => fullyqualifiedname);
      return [...named, ...defined]
        .filter((label) => foldCase(label).startsWith(prefix))
        .map(foldCase)
        .sort();
    };

    it('are all names with the prefix, ten at most, in alphabetical order', async () => {
      const prefixes = new Set(labels('').flatMap((label) => [1, 2, 3, 5].map((length) => label.slice(0, length))));
      expect(prefixes.size).toBeGreaterThan(20);
      for (const prefix of prefixes) {
        if (/[.@]/.test(prefix)) continue;
        const expected = labels(prefix);
        const given = (await suggested(prefix)).filter(({ type, id }) => type !== 'identity' || !currencies.has(id));
        const shown = given.map(({ label }) => foldCase(label));
        if (expected.length <= 10) expect(shown, prefix).toEqual(expected);
        else expect([shown.length, shown], prefix).toEqual([10, expected.slice(0, 10)]);
      }
    });

    it('narrow by parents, and take capitals and a final @', async () => {
      for (const { id, name } of identities) {
        const found = await suggested(`${name.replace(/[a-z]/g, (letter: string) => letter.toUpperCase())}@`);
        expect(
          found.map((row) => row.id),
          name,
        ).toContain(id);
        for (const { url } of found) expect(await client.status(url)).toBe(200);
      }
    });

    it.each(['%', '_', '\\', "';--", '\u{10ffff}', '\u202e', 'zzzzzz', '.', '@@'])('for %j are empty', async (text) => {
      expect(await suggested(text)).toEqual([]);
    });

    it.each(['q=', 'q=%20', 'q=a%00', `q=${'a'.repeat(81)}`, 'q=a&chain=nope', 'chain=vrsc'])(
      'refuse %s',
      async (query) => {
        expect(await client.status(`/api/search/suggest?${query}`)).toBe(400);
      },
    );
  });
}
