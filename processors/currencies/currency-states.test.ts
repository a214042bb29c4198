import { beforeAll, describe, expect, it } from 'vitest';
import { parseExact, stringifyExact } from '../../domain/json/exact-json.ts';
import { coinsToSatoshis } from '../../domain/satoshi.ts';
import type { CurrencyStateFact } from '../../schemas/facts.ts';
import { conversionObject, type DaemonCurrencyState } from '../../schemas/verusd/conversion-objects.ts';
import { block, decodedAs, output, transaction } from '../../test/support/processors/blocks.ts';
import { foldPaired, PAIRED_CHAINS } from '../../test/support/processors/chain-pair.ts';
import { recordedLines } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording, type RecordedFold } from '../../test/support/processors/recorded-fold.ts';
import { createMemoryState } from '../state/memory-state.ts';
import { deriveCurrencyStates } from './currency-states.ts';

type CurrencyStateAtHeight = CurrencyStateFact & { readonly height: number };

let recording: RecordedFold;
let states: CurrencyStateAtHeight[];
beforeAll(() => {
  recording = foldRecording();
  states = recording.all('currency_state');
});

const ofCurrency = (currencyId: string): CurrencyStateAtHeight[] =>
  states.filter((state) => state.currencyId === currencyId);

describe('recorded currency states', () => {
  it('equal getcurrencystate at every height after the launch of every basket', () => {
    type Row = { height: number; result: { currencystate: DaemonCurrencyState }[] | null };
    const compared = new Map<string, number>();
    for (const { height, result } of recordedLines<Row>('series/currencystate.jsonl.gz')) {
      const said = result?.[0]?.currencystate;
      if (!said) continue;
      const current = ofCurrency(said.currencyid).findLast((state) => state.height <= height);
      // Before the launch the daemon simulates states that are in no block.
      const launch = ofCurrency(said.currencyid).find(({ flags }) => flags & 0x20)?.height ?? Number.POSITIVE_INFINITY;
      if (!current || height < launch) continue;
      expect(parseExact(current.state), `${said.currencyid} at ${height}`).toEqual(said);
      expect(current).toMatchObject({ flags: said.flags, supply: coinsToSatoshis(said.supply) });
      expect(current.reserves).toEqual(
        (said.reservecurrencies ?? []).map((reserve) => ({
          currencyId: reserve.currencyid,
          weight: coinsToSatoshis(reserve.weight),
          reserves: coinsToSatoshis(reserve.reserves),
          priceInReserve: coinsToSatoshis(reserve.priceinreserve),
        })),
      );
      compared.set(said.currencyid, (compared.get(said.currencyid) ?? 0) + 1);
    }
    const tip = recording.derived.length - 1;
    expect([...compared.values()].sort()).toEqual([449, 449, 299, 299, 299].map((launch) => tip - launch + 1));
  });

  it('are in block order, with several of a currency in one block', () => {
    const order = states.map(({ height, txIndex, vout }) => height * 1e6 + txIndex * 1e3 + vout);
    expect(order).toEqual([...order].sort((a, b) => a - b));
    const launch = states.filter(
      ({ height, currencyId }) => height === 299 && currencyId === 'iL61AyTw6Td3khQNE7oFGoH6cfM3mpxLXQ',
    );
    expect(launch.map(({ flags }) => flags)).toEqual([25, 17, 17, 49]);
  });

  it('keep the daemon’s own text', () => {
    for (const { height, txIndex, vout, state } of states) {
      const output = recording.derived[height]?.block.tx[txIndex]?.vout[vout];
      const notarization = output && conversionObject(output.scriptPubKey, 'acceptednotarization');
      expect(state).toBe(stringifyExact(notarization?.currencystate));
    }
  });

  it('have the first height of a live state from that state on, and none for tokens and failed launches', () => {
    for (const currencyId of new Set(states.map((state) => state.currencyId))) {
      const first = ofCurrency(currencyId).findIndex(({ flags }) => flags === 49);
      for (const [index, state] of ofCurrency(currencyId).entries()) {
        const isLive = first >= 0 && index >= first;
        expect(state.liveHeight).toBe(isLive ? ofCurrency(currencyId)[first]?.height : null);
      }
    }
    const live = new Set(states.map(({ liveHeight }) => liveHeight));
    expect(live).toEqual(new Set([null, 299, 449]));
  });

  it('have reserves only for baskets', () => {
    for (const { flags, reserves } of states) expect(reserves.length > 0).toBe((flags & 1) !== 0);
  });
});

describe('states of a pair of chains', () => {
  it('are those of the chain itself: states that it accepts from the other chain are left out', () => {
    const root = foldPaired('root').all('currency_state');
    const pchain = foldPaired('pchain').all('currency_state');
    expect(root.map(({ height, flags }) => [height, flags])).toEqual([
      [139, 2],
      [139, 3],
      [148, 3],
      [169, 27],
      [169, 26],
    ]);
    expect(pchain.map(({ height, flags }) => [height, flags])).toEqual([
      [2, 17],
      [2, 49],
      [3, 48],
      [148, 49],
      [267, 49],
    ]);
    expect(pchain.map(({ liveHeight }) => liveHeight)).toEqual([null, 2, null, 2, 2]);
  });
});

describe('a basket that stops being live in the block that launched it', () => {
  it('keeps the height', () => {
    const notarized = (n: number, flags: number) =>
      output(
        n,
        '0',
        decodedAs(
          'acceptednotarization',
          `{"samechain":true,"currencyid":"iA","currencystate":{"flags":${flags},"currencyid":"iA","supply":1.00000000}}`,
        ),
      );
    const made = block(7, [transaction('aa', [], [notarized(0, 17), notarized(1, 49), notarized(2, 37)])]);
    const facts = deriveCurrencyStates({ block: made, clock: made.time }, createMemoryState(PAIRED_CHAINS.root));
    expect(facts.map(({ liveHeight }) => liveHeight)).toEqual([null, 7, 7]);
  });
});
