/** How a USD value was computed: a graph of steps, from the reserves of baskets to the value. */
import type { RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { At, Copy, Currency, shownNumber, usePointer, Value } from '../kit.ts';
import type { Valuation } from './conversion-worth.tsx';

type Step = NonNullable<Valuation['steps']>[number];

const TITLES: Readonly<Record<Step['step'], string>> = {
  anchor: 'Stable currency',
  price_in_reserve: 'Price in a reserve',
  basket_price: 'USD by a basket',
  mean: 'Mean, by depth',
  from_usd: 'Given, in USD',
  to_usd: 'Paid, in USD',
  market_rate: 'Rate of the market',
  executed_rate: 'Rate of the execution',
};

interface ExplanationProps {
  readonly steps: readonly Step[];
  readonly chain: string;
}

export function Explanation({ steps, chain }: ExplanationProps) {
  const pointer = usePointer('steps');
  const uses = steps.map((step) => step.uses.map(Number));
  const places = placesOf(uses);
  const list = useRef<HTMLOListElement>(null);
  const lines = useLines(list, uses);
  return (
    <div data-testid="explanation" class="explanation">
      {steps.length === 0 && <p class="empty">Without a price there is nothing to compute.</p>}
      {/* biome-ignore lint/a11y/noRedundantRoles: Safari does not expose a list without bullets as a list */}
      <ol role="list" class="steps" ref={list}>
        {steps.map((step, index) => (
          <At key={index} at={`${pointer}/${index}`}>
            <li
              data-step={index}
              data-item={`${pointer}/${index}`}
              style={{ gridColumn: places[index]?.column, gridRow: places[index]?.row }}
            >
              <StepBody step={step} number={index + 1} uses={uses[index] ?? []} chain={chain} />
            </li>
          </At>
        ))}
      </ol>
      <svg class="edges" aria-hidden="true">
        {lines.map((line) => (
          <path key={line} d={line} />
        ))}
      </svg>
    </div>
  );
}

interface StepProps {
  readonly step: Step;
  readonly number: number;
  readonly uses: readonly number[];
  readonly chain: string;
}

function StepBody({ step, number, uses, chain }: StepProps) {
  const { currencyId, basketId, expression, value } = step;
  return (
    <>
      <div class="step-head">
        <span class="step-number" data-derived="number">
          {number}
        </span>
        <h3>{TITLES[step.step]}</h3>
      </div>
      <p>
        <Currency chain={chain} name="currencyName" id="currencyId" />
        {basketId !== null && basketId !== currencyId && (
          <>
            {' '}
            in <Currency chain={chain} name="basketName" id="basketId" />
          </>
        )}
      </p>
      <p class="step-value">
        = <Value at="value">{shownNumber(value, 'price')}</Value>
      </p>
      <p class="step-expression">
        <Value at="expression">{shortExpression(expression)}</Value>
      </p>
      <div class="step-foot">
        {uses.length > 0 && (
          <span class="muted" data-derived="uses">
            from {uses.map((used) => used + 1).join(', ')}
          </span>
        )}
        <Copy label="Copy arithmetic" text={`${expression} = ${value}`} />
      </div>
    </>
  );
}

/** Shortens the numbers for reading; the title has every digit. */
const shortExpression = (expression: string) =>
  expression
    .replace(/\d+(\.\d+)?/g, (digits) => shownNumber(digits, 'price'))
    .replaceAll('*', '×')
    .replaceAll('/', '÷');

interface Place {
  readonly column: number;
  readonly row: number;
}

/**
 * Places each step to the right of the steps that it uses, as close as possible to its first user; rows follow the order of computation.
 */
function placesOf(uses: readonly (readonly number[])[]): readonly Place[] {
  const columns: number[] = [];
  for (const used of uses) columns.push(1 + Math.max(0, ...used.map((from) => columns[from] ?? 0)));
  for (const place of columns.keys()) {
    const step = columns.length - 1 - place; // users have higher indexes, so their columns are final
    const users = columns.filter((_, user) => uses[user]?.includes(step));
    if (users.length > 0) columns[step] = Math.min(...users) - 1;
  }
  const filled = new Map<number, number>();
  return columns.map((column) => {
    const row = (filled.get(column) ?? 0) + 1;
    filled.set(column, row);
    return { column, row };
  });
}

/** Curves from the right side of each step to the left side of the steps that use it. */
function useLines(list: RefObject<HTMLOListElement | null>, uses: readonly (readonly number[])[]): readonly string[] {
  const [lines, setLines] = useState<readonly string[]>([]);
  useLayoutEffect(() => {
    const { current } = list;
    if (!current) return undefined;
    const draw = () => {
      const items = [...current.children].filter((item) => item instanceof HTMLElement);
      setLines(uses.flatMap((used, to) => used.map((from) => lineBetween(items[from], items[to]))));
    };
    const observer = new ResizeObserver(draw);
    observer.observe(current);
    return () => observer.disconnect();
  }, [uses.length]);
  return lines;
}

function lineBetween(from: HTMLElement | undefined, to: HTMLElement | undefined): string {
  if (!from || !to) return '';
  const [x1, y1] = [from.offsetLeft + from.offsetWidth, from.offsetTop + from.offsetHeight / 2];
  const [x2, y2] = [to.offsetLeft, to.offsetTop + to.offsetHeight / 2];
  const middle = (x1 + x2) / 2;
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`;
}
