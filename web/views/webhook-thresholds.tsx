/** Prices at which a webhook sends a message. */
import type { BodyOf } from '../kit.ts';

type Threshold = NonNullable<BodyOf<'/api/webhooks'>['thresholds']>[number];
type Direction = NonNullable<Threshold['direction']>;

export interface Row {
  /** Key of the list item. */
  readonly id: number;
  readonly currency: string;
  readonly usd: string;
  readonly direction: Direction;
}

const DIRECTIONS: Readonly<Record<Direction, string>> = {
  both: 'either way',
  above: 'upwards',
  below: 'downwards',
};
const MOST = 50;

/** Sends decimals as text, so that no digit is lost. */
export function thresholdsOf(rows: readonly Row[]): Threshold[] {
  return rows.map(({ currency, usd, direction }) => ({
    currency: currency.trim(),
    usd: usd.trim(),
    direction,
  })) as Threshold[];
}

interface Written {
  readonly currency: string;
  readonly usd: string;
  readonly direction: string;
}

/** Returns one empty row when there are no thresholds. */
export function rowsOf(thresholds: readonly Written[]): Row[] {
  const rows = thresholds.length > 0 ? thresholds : [{ currency: '', usd: '', direction: 'both' }];
  return rows.map(({ currency, usd, direction }, index) => ({
    id: index + 1,
    currency,
    usd,
    direction: direction as Direction,
  }));
}

interface ThresholdsProps {
  readonly rows: readonly Row[];
  readonly onChange: (rows: readonly Row[]) => void;
}

export function Thresholds({ rows, onChange }: ThresholdsProps) {
  const change = (id: number, by: Partial<Row>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...by } : row)));
  return (
    <fieldset>
      <legend>Prices to cross</legend>
      <ul class="plan">
        {rows.map(({ id, currency, usd, direction }, index) => (
          <li key={id}>
            <input
              type="text"
              aria-label={`Currency ${index + 1}`}
              placeholder="VRSC, or an i-address"
              required
              value={currency}
              autocomplete="off"
              spellcheck={false}
              onInput={({ currentTarget: { value } }) => change(id, { currency: value })}
            />
            <input
              type="text"
              inputMode="decimal"
              aria-label={`USD ${index + 1}`}
              placeholder="1.50"
              required
              value={usd}
              autocomplete="off"
              onInput={({ currentTarget: { value } }) => change(id, { usd: value })}
            />
            <select
              aria-label={`Direction ${index + 1}`}
              value={direction}
              onChange={({ currentTarget: { value } }) => change(id, { direction: value as Direction })}
            >
              {Object.entries(DIRECTIONS).map(([value, words]) => (
                <option key={value} value={value}>
                  {words}
                </option>
              ))}
            </select>
            <button
              type="button"
              aria-label={`Remove price ${index + 1}`}
              disabled={rows.length === 1}
              onClick={() => onChange(rows.filter((row) => row.id !== id))}
            >
              Remove
            </button>
          </li>
        ))}
      </ul>
      <button
        type="button"
        disabled={rows.length >= MOST}
        onClick={() => {
          const id = Math.max(...rows.map((row) => row.id)) + 1;
          onChange([...rows, { id, currency: '', usd: '', direction: 'both' }]);
        }}
      >
        Add a price
      </button>
    </fieldset>
  );
}
