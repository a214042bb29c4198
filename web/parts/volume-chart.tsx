/** Trade volume by day, week or month. */
import { shownNumber } from '../text/numbers.ts';
import { Chart } from './chart.tsx';

interface VolumeRow {
  readonly date: string;
  readonly volume: string;
  readonly trades: string;
  readonly fees: string;
}

const DAY = 86_400;
const SPANS = { daily: DAY, weekly: 7 * DAY, monthly: 31 * DAY } as const;
const WORDS = { daily: 'day', weekly: 'week', monthly: 'month' } as const;

export type Period = keyof typeof SPANS;

interface VolumeChartProps {
  readonly rows: readonly VolumeRow[];
  readonly period: Period;
}

export function VolumeChart({ rows, period }: VolumeChartProps) {
  const word = WORDS[period];
  return (
    <Chart
      at=""
      points={rows}
      name={`Volume by ${word}`}
      caption={sentence(rows, word)}
      time={({ date }) => date}
      step={SPANS[period]}
      series={[{ name: 'Volume', kind: 'bars', unit: 'USD', as: 'usd', value: ({ volume }) => volume }]}
      empty="Nothing was traded yet."
      columns={[
        { head: `First day of the ${word}`, at: 'date' },
        { head: 'Volume', at: 'volume', as: 'usd', unit: 'USD' },
        { head: 'Trades', at: 'trades', as: 'integer' },
        { head: 'Fees', at: 'fees', as: 'usd', unit: 'USD' },
      ]}
    />
  );
}

function sentence(rows: readonly VolumeRow[], word: string): string {
  const last = rows.at(-1);
  if (!last) return '';
  const sum = rows.reduce((total, { volume }) => total + Number(volume), 0).toFixed(2);
  const all = `${shownNumber(sum, 'usd')} USD in ${rows.length} ${word}${rows.length === 1 ? '' : 's'}`;
  return `${all}, ${shownNumber(last.volume, 'usd')} USD in the last ${word}, which began on ${last.date}.`;
}
