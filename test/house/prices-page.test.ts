/** docs/prices.md agrees with the rule tables and the functions. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { type ConfidenceInput, confidence, priceStatus } from '../../domain/confidence.ts';
import type { Reason } from '../../domain/stamps.ts';
import { judgePrice } from '../../processors/pricing/price-guard.ts';
import { type Condition, RULES, type SideKind, TRUTH } from '../../processors/pricing/stamp-rules.ts';
import { ROOT } from './source-files.ts';

const page = readFileSync(`${ROOT}/docs/prices.md`, 'utf8');

/** Cells of the table with this header, row by row. */
function tableUnder(head: string): string[][] {
  const [, rest] = page.split(`| ${head} |\n`);
  if (rest === undefined) throw new Error(`docs/prices.md has no table | ${head} |`);
  const lines = rest.slice(0, rest.indexOf('\n\n')).split('\n').slice(1);
  return lines.map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
}

const KINDS: Readonly<Record<keyof SideKind, string>> = {
  isAnchor: 'anchor',
  isNative: 'the native currency',
  isBasket: 'basket',
};

function words(when: Condition): string {
  const said = (['from', 'to'] as const).flatMap((side) =>
    (Object.entries(when[side] ?? {}) as [keyof SideKind, boolean][]).map(([kind, is]) => {
      const article = KINDS[kind].startsWith('the') ? '' : KINDS[kind] === 'anchor' ? 'an ' : 'a ';
      return `${side} is ${is ? article : 'no '}${KINDS[kind]}`;
    }),
  );
  return said.join(', ');
}

it('lists the rules in order', () => {
  const rows = RULES.map(({ rule, side, reason, when }) => [rule, words(when), side ?? '', reason ?? '']);
  expect(tableUnder('rule | when | side | reason')).toEqual(rows);
});

it('states which side is reliable', () => {
  expect(page).toContain(`the first of these: ${TRUTH.map(({ when }) => words(when)).join(', ')}.`);
});

it('explains every reason', () => {
  // A record, so that a new reason does not compile until it is added here.
  const reasons: Readonly<Record<Reason, true>> = {
    basket_to_basket: true,
    burn: true,
    mint: true,
    mirrored: true,
    no_delivery: true,
    no_price: true,
    out_of_bounds: true,
    refunded: true,
  };
  const explained = tableUnder('reason | why there is no value, or whose it is').map(([reason]) => reason);
  expect(explained).toEqual(Object.keys(reasons));
});

const USD = 10n ** 30n;
/** An input that earns no points. */
const POOR: ConfidenceInput = { tier: 3, usd: USD, totalDepth: 0n, entryPrices: [], age: 50, guard: null };

/** From the words of the page: one input that just earns the row's points, and one that just misses them. */
function edges(what: string): readonly [Partial<ConfidenceInput>, Partial<ConfidenceInput>] {
  const number = Number(/([\d,]+)/.exec(what)?.[1]?.replaceAll(',', ''));
  if (what.startsWith('depth')) {
    const bound = BigInt(number) * USD;
    return [{ totalDepth: bound + 1n }, { totalDepth: bound }];
  }
  if (what === 'tier 0 or 1') return [{ tier: 1 }, { tier: 2 }];
  if (what === 'tier 2') return [{ tier: 2 }, { tier: 3 }];
  if (what.includes('apart')) {
    const bound = (BigInt(number) * USD) / 100n;
    return [{ entryPrices: [USD, USD + bound - 1n] }, { entryPrices: [USD, USD + bound] }];
  }
  if (what.includes('at most') && what.includes('blocks')) return [{ age: number }, { age: number + 1 }];
  if (what.includes('more than')) return [{ age: number + 1 }, { age: number }];
  const off = (percent: bigint, more: bigint) => {
    const external = 100n * USD;
    const { status } = judgePrice({
      derived: { usd: external + percent * USD + more },
      replaced: undefined,
      external,
      good: null,
    });
    return { guard: status };
  };
  return [off(BigInt(number), 0n), off(BigInt(number), 10n ** 21n)];
}

it('states the points of confidence and their exact limits', () => {
  const rows = tableUnder('what | points');
  expect(rows.length).toBe(11);
  for (const [what = '', points] of rows) {
    const [earns, misses] = edges(what);
    const base = what.includes('more than') ? { ...POOR, tier: 0 as const, totalDepth: 60_000n * USD } : POOR;
    const bare = confidence(base);
    expect(confidence({ ...base, ...earns }) - bare, what).toBe(Number(points));
    expect(confidence({ ...base, ...misses }) - bare, `not ${what}`).not.toBe(Number(points));
  }
});

it('states when a price is stale or rejected', () => {
  expect(page).toContain('`stale` when the last step is more than 100 blocks ago');
  expect([priceStatus(100, null), priceStatus(101, null), priceStatus(101, 'rejected')]).toEqual([
    'healthy',
    'stale',
    'rejected',
  ]);
});
