import { describe, expect, it } from 'vitest';
import { isLiveBasket } from '../../domain/basket-liveness.ts';
import type { CurrencyStateFact, ReserveSnapshotFact } from '../../schemas/facts.ts';
import { RECORDED_CHAIN } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';
import { createMemoryState } from '../state/memory-state.ts';
import { deriveReserveSnapshots } from './reserve-snapshots.ts';

const LIVE = 49;

function basket(currencyId: string, flags = LIVE, supply = 5n): CurrencyStateFact {
  const reserves = [{ currencyId: 'iReserve', weight: 100_000_000n, reserves: 7n, priceInReserve: 140_000_000n }];
  const place = { txid: 'aa', vout: 1, txIndex: 2 };
  return { type: 'currency_state', currencyId, ...place, flags, supply, reserves, liveHeight: 9, state: '{}' };
}

/** Snapshots of a block at `clock` that follows a tip at height 10. */
function snapshots(tipClock: number, clock: number, ...states: CurrencyStateFact[]): ReserveSnapshotFact[] {
  const state = createMemoryState(RECORDED_CHAIN);
  state.apply(9, states);
  state.setTip({ height: 10, hash: 'bb', time: tipClock, clock: tipClock });
  return deriveReserveSnapshots({ clock }, state);
}

describe('reserve snapshots', () => {
  it('close a window when a block opens a later one', () => {
    expect(snapshots(1499, 1500, basket('iA'))).toEqual([
      {
        type: 'reserve_snapshot',
        currencyId: 'iA',
        window: 1200,
        stateHeight: 10,
        supply: 5n,
        reserves: [{ currencyId: 'iReserve', weight: 100_000_000n, reserves: 7n, priceInReserve: 140_000_000n }],
      },
    ]);
  });

  it('write nothing inside a window', () => {
    expect(snapshots(1200, 1499, basket('iA'))).toEqual([]);
    expect(snapshots(1200, 1200, basket('iA'))).toEqual([]);
  });

  it('write none for windows without a block', () => {
    expect(snapshots(1250, 9999, basket('iA')).map(({ window }) => window)).toEqual([1200]);
  });

  it('contain only live baskets, ordered by id whatever the order of the states', () => {
    const states = [
      basket('iC'),
      basket('iA'),
      basket('iToken', 48),
      basket('iPre', 3),
      basket('iFailed', 37),
      basket('iB'),
    ];
    expect(snapshots(1499, 1500, ...states).map(({ currencyId }) => currencyId)).toEqual(['iA', 'iB', 'iC']);
  });

  it('need a block before this one', () => {
    const state = createMemoryState(RECORDED_CHAIN);
    state.apply(0, [basket('iA')]);
    expect(deriveReserveSnapshots({ clock: 1500 }, state)).toEqual([]);
  });

  it('are the states after the last recorded block of each window', () => {
    const recording = foldRecording();
    const states = recording.all('currency_state');
    const lastOfWindow = new Map<number, number>();
    const recorded = recording.derived.map(({ block }) => block);
    let clock = 0;
    for (const { height, time } of recorded) {
      clock = Math.max(clock, time);
      lastOfWindow.set(Math.floor(clock / 300) * 300, height);
    }
    lastOfWindow.delete(Math.floor(clock / 300) * 300);
    const expected = [...lastOfWindow].flatMap(([window, stateHeight]) => {
      const current = new Map(
        states.filter(({ height }) => height <= stateHeight).map((state) => [state.currencyId, state]),
      );
      return [...current.values()]
        .filter(({ flags }) => isLiveBasket(flags))
        .sort((a, b) => a.currencyId.localeCompare(b.currencyId, 'en'))
        .map(({ currencyId, supply, reserves }) => {
          return {
            type: 'reserve_snapshot',
            currencyId,
            window,
            stateHeight,
            supply,
            reserves,
            height: stateHeight + 1,
          };
        });
    });
    const byKey = (a: { window: number; currencyId: string }, b: { window: number; currencyId: string }) =>
      a.window - b.window || (a.currencyId < b.currencyId ? -1 : 1);
    expect(recording.all('reserve_snapshot').sort(byKey)).toEqual(expected.sort(byKey));
    expect(expected.length).toBeGreaterThan(900);
  });
});
