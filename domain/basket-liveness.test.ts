import { describe, expect, it } from 'vitest';
import {
  IS_FRACTIONAL_SQL,
  IS_LAUNCHED_SQL,
  IS_LIVE_BASKET_CLICKHOUSE_SQL,
  isFractional,
  isLiveBasket,
} from './basket-liveness.ts';

describe('isLiveBasket', () => {
  it.each([
    [49, true],
    [3, false],
    [17, false],
    [25, false],
    [27, false],
    [37, false],
    [48, false],
    [49 | 2, false],
    [49 | 4, false],
  ])('%i: %s', (flags, live) => {
    expect(isLiveBasket(flags)).toBe(live);
  });
});

/** Evaluates `flags & mask = value` or its form in ClickHouse. */
function holds(sql: string, flags: number): boolean {
  const [, mask, value] = /^(?:flags & |bitAnd\(flags, )(\d+)\)? = (\d+)$/.exec(sql) ?? [];
  if (mask === undefined) throw new Error(`not a condition on flags: ${sql}`);
  return (flags & Number(mask)) === Number(value);
}

it('SQL and the functions agree on all flags', () => {
  for (let flags = 0; flags < 0x80; flags += 1) {
    expect(holds(IS_LIVE_BASKET_CLICKHOUSE_SQL, flags), `live ${flags}`).toBe(isLiveBasket(flags));
    expect(holds(IS_FRACTIONAL_SQL, flags), `fractional ${flags}`).toBe(isFractional(flags));
    // A launched basket is live; a launched token is not fractional.
    expect(holds(IS_LAUNCHED_SQL, flags), `launched ${flags}`).toBe(isLiveBasket(flags | 1));
  }
});
