/** Which side of a conversion gives its USD value. This is the only copy of the table; its rows exclude each other and cover all cases. */
import type { Reason, Rule, Side } from '../../domain/stamps.ts';

export interface SideKind {
  readonly isAnchor: boolean;
  /** The chain's native currency. */
  readonly isNative: boolean;
  /** By its definition, live or not. */
  readonly isBasket: boolean;
}

/** Conditions on both sides; a property that is left out may have any value. Plain data, so that SQL can be generated from it. */
export interface Condition {
  readonly from?: Partial<SideKind>;
  readonly to?: Partial<SideKind>;
}

export interface RuleRow {
  readonly rule: Rule;
  /** Null: the conversion has no value. */
  readonly side: Side | null;
  readonly reason: Reason | null;
  readonly when: Condition;
}

const ANCHOR = { isAnchor: true } as const;
const BASKET = { isAnchor: false, isBasket: true } as const;
const OTHER = { isAnchor: false, isBasket: false } as const;

export const RULES: readonly RuleRow[] = [
  { rule: 'stable_in', side: 'from', reason: null, when: { from: ANCHOR } },
  { rule: 'stable_out', side: 'to', reason: null, when: { from: { isAnchor: false }, to: ANCHOR } },
  { rule: 'unpriced', side: null, reason: 'basket_to_basket', when: { from: BASKET, to: BASKET } },
  { rule: 'to_basket_from', side: 'from', reason: null, when: { from: OTHER, to: BASKET } },
  { rule: 'to_side', side: 'to', reason: null, when: { from: { isAnchor: false }, to: OTHER } },
];

/** Sides whose price is beyond doubt, best first: an anchor, else the native currency. */
export const TRUTH: readonly { readonly side: Side; readonly when: Condition }[] = [
  { side: 'from', when: { from: { isAnchor: true } } },
  { side: 'to', when: { to: { isAnchor: true } } },
  { side: 'from', when: { from: { isNative: true } } },
  { side: 'to', when: { to: { isNative: true } } },
];

export function applies({ from: askedFrom, to: askedTo }: Condition, from: SideKind, to: SideKind): boolean {
  return isKind(from, askedFrom) && isKind(to, askedTo);
}

function isKind(side: SideKind, asked: Partial<SideKind> = {}): boolean {
  return (Object.keys(asked) as (keyof SideKind)[]).every((name) => side[name] === asked[name]);
}

export function ruleFor(from: SideKind, to: SideKind): RuleRow {
  const row = RULES.find(({ when }) => applies(when, from, to));
  if (!row) throw new RangeError('the rule table does not cover this conversion');
  return row;
}

/** The first row of TRUTH that applies; null when neither side is beyond doubt. */
export function truthSide(from: SideKind, to: SideKind): Side | null {
  return TRUTH.find(({ when }) => applies(when, from, to))?.side ?? null;
}
