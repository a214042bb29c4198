/** Which side of a conversion gives its USD value. The table stands here once: its rows exclude each other and cover all. */
export type Side = 'from' | 'to';
export type PricedRule = 'stable_in' | 'stable_out' | 'to_basket_from' | 'to_side';
export type Rule = PricedRule | 'unpriced';
export type Reason = 'refunded' | 'burn' | 'mint' | 'basket_to_basket' | 'no_price' | 'mirrored' | 'out_of_bounds';

export interface SideKind {
  readonly isAnchor: boolean;
  /** The chain's native currency. */
  readonly isNative: boolean;
  /** By its definition, live or not. */
  readonly isBasket: boolean;
}

export interface RuleRow {
  readonly rule: Rule;
  /** Null: the conversion has no value. */
  readonly side: Side | null;
  readonly reason: Reason | null;
  readonly applies: (from: SideKind, to: SideKind) => boolean;
}

const hasAnchor = (from: SideKind, to: SideKind) => from.isAnchor || to.isAnchor;

export const RULES: readonly RuleRow[] = [
  { rule: 'stable_in', side: 'from', reason: null, applies: (from) => from.isAnchor },
  { rule: 'stable_out', side: 'to', reason: null, applies: (from, to) => !from.isAnchor && to.isAnchor },
  {
    rule: 'unpriced',
    side: null,
    reason: 'basket_to_basket',
    applies: (from, to) => !hasAnchor(from, to) && from.isBasket && to.isBasket,
  },
  {
    rule: 'to_basket_from',
    side: 'from',
    reason: null,
    applies: (from, to) => !hasAnchor(from, to) && !from.isBasket && to.isBasket,
  },
  { rule: 'to_side', side: 'to', reason: null, applies: (from, to) => !hasAnchor(from, to) && !to.isBasket },
];

export function ruleFor(from: SideKind, to: SideKind): RuleRow {
  const row = RULES.find(({ applies }) => applies(from, to));
  if (!row) throw new RangeError('the rule table does not cover this conversion');
  return row;
}

/** The side whose price is beyond doubt: an anchor, else the native currency; null when neither side is one. */
export function truthSide(from: SideKind, to: SideKind): Side | null {
  if (from.isAnchor) return 'from';
  if (to.isAnchor) return 'to';
  if (from.isNative) return 'from';
  return to.isNative ? 'to' : null;
}
