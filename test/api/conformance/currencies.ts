/** Definitions of currencies. */
import { describe, expect, it } from 'vitest';
import { coins } from '../../../api/http/values.ts';
import { STATE_FLAGS } from '../../../domain/flags.ts';
import type { TestClient } from '../client.ts';
import { NATIVE } from '../running-service.ts';
import { blocks, type LooseJson, sat, truth } from '../truth.ts';

export function currenciesConform(client: TestClient): void {
  describe('currencies', () => {
    const recorded: LooseJson = truth('supply.json').currencies;
    const notarizedStates: LooseJson[] = blocks.flatMap(({ tx }) =>
      tx.flatMap(({ vout }: LooseJson) =>
        vout.flatMap(({ scriptPubKey }: LooseJson) => scriptPubKey.acceptednotarization?.currencystate ?? []),
      ),
    );
    /** Members that the daemon adds from elsewhere, which are not part of a definition. */
    const VOLATILE = /^(best|lastconfirmed)|^(currencyidhex|magicnumber|currencynames)$/;

    const { PRELAUNCH, REFUNDING, LAUNCH_CONFIRMED } = STATE_FLAGS;
    const amount = (value: LooseJson) => (value === undefined ? null : coins(BigInt(sat(value))));

    /** The launch, from the notarizations in the blocks alone. */
    function launchOf(wanted: LooseJson) {
      const states = notarizedStates.filter(({ currencyid }) => currencyid === wanted.currencyid);
      const prelaunch = states
        .filter(({ flags }) => flags & PRELAUNCH && !(flags & (REFUNDING | LAUNCH_CONFIRMED)))
        .at(-1);
      const { flags } = states.at(-1);
      const preconversions = (wanted.currencies ?? []).map((currencyId: string, index: number) => ({
        currencyId,
        currencyName: recordedName(currencyId),
        amount: amount(prelaunch.currencies[currencyId].reservein),
        minimum: amount(wanted.minpreconversion?.[index]),
        maximum: amount(wanted.maxpreconversion?.[index]),
      }));
      const status = flags & REFUNDING ? 'refunding' : 'launched';
      return { status, startBlock: wanted.startblock, blocksToStart: null, preconversions };
    }

    const recordedName = (id: string) =>
      Object.values<LooseJson>(recorded).find(({ currencyid }) => currencyid === id)?.fullyqualifiedname ?? null;

    it('lists all that are defined, by type and by launch', async () => {
      const rows = await client.walk('/api/currency/', 3);
      const defined = Object.values<LooseJson>(recorded).filter(({ currencyid }) => currencyid !== NATIVE);
      expect(new Set(rows.map(({ currencyId }) => currencyId))).toEqual(
        new Set(defined.map(({ currencyid }) => currencyid)),
      );
      for (const row of rows) {
        const whole = await client.json(`/api/currency/${row.currencyId}`);
        const { launch, ...members } = row;
        expect(whole).toMatchObject(members);
        expect(whole.launch.status).toBe(launch);
      }
      expect(new Set(rows.map(({ launch }) => launch))).toEqual(new Set(['launched', 'refunding']));
      for (const type of [undefined, 'basket', 'token', 'gateway']) {
        for (const launch of [undefined, 'prelaunch', 'launched', 'refunding']) {
          const query = [type && `type=${type}`, launch && `launch=${launch}`].filter(Boolean).join('&');
          const wanted = rows.filter((row) => (!type || row.type === type) && (!launch || row.launch === launch));
          expect(await client.walk(`/api/currency/?${query}`, 2), query).toEqual(wanted);
          expect((await client.json(`/api/currency/?${query}`)).total).toBe(wanted.length);
        }
      }
    });

    it.each(['type=coin', 'launch=soon', 'chain=nope', 'cursor=x', 'type=basket%00'])('refuses %s', async (query) => {
      expect(await client.status(`/api/currency/?${query}`)).toBe(400);
    });

    it('defines each like getcurrency, by id and by name', async () => {
      for (const [leaf, wanted] of Object.entries<LooseJson>(recorded)) {
        for (const name of [wanted.currencyid, wanted.fullyqualifiedname, leaf.toUpperCase()]) {
          const row = await client.json(`/api/currency/${encodeURIComponent(name)}`);
          const lower = Object.fromEntries(Object.entries(row).map(([key, value]) => [key.toLowerCase(), value]));
          for (const [member, value] of Object.entries(wanted)) {
            if (!VOLATILE.test(member)) expect(lower[member], `${name} ${member}`).toEqual(value);
          }
          const type = wanted.options & 1 ? 'basket' : wanted.currencyid === NATIVE ? 'native' : 'token';
          expect(row.type).toBe(type);
          expect(row.launch).toEqual(type === 'native' ? null : launchOf(wanted));
          if (type !== 'native') expect(sat(row.supply)).toBe(sat(wanted.bestcurrencystate.supply));
        }
      }
    });
  });
}
