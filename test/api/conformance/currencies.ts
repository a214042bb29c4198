/** Definitions of currencies. */
import { describe, expect, it } from 'vitest';
import type { TestClient } from '../client.ts';
import { NATIVE } from '../running-service.ts';
import { type LooseJson, sat, truth } from '../truth.ts';

export function currenciesConform(client: TestClient): void {
  describe('currencies', () => {
    const recorded: LooseJson = truth('supply.json').currencies;
    /** Ours in camelCase, the daemon's in lower case; what it adds from elsewhere is not in a definition. */
    const VOLATILE = /^(best|lastconfirmed)|^(currencyidhex|magicnumber|currencynames)$/;

    it('defines each as getcurrency does, by id and by name', async () => {
      for (const [leaf, wanted] of Object.entries<LooseJson>(recorded)) {
        for (const name of [wanted.currencyid, wanted.fullyqualifiedname, leaf.toUpperCase()]) {
          const row = await client.json(`/api/currency/${encodeURIComponent(name)}`);
          const lower = Object.fromEntries(Object.entries(row).map(([key, value]) => [key.toLowerCase(), value]));
          for (const [member, value] of Object.entries(wanted)) {
            if (!VOLATILE.test(member)) expect(lower[member], `${name} ${member}`).toEqual(value);
          }
          const type = wanted.options & 1 ? 'basket' : wanted.currencyid === NATIVE ? 'native' : 'token';
          expect(row.type).toBe(type);
          if (type !== 'native') expect(sat(row.supply)).toBe(sat(wanted.bestcurrencystate.supply));
        }
      }
    });
  });
}
