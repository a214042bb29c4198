/** Trade volume by day, week or month. */
import { Choices, Panel, type Period, type ViewProps, VolumeChart } from '../kit.ts';

const PERIODS: Readonly<Record<Period, string>> = { daily: '30 days', weekly: '12 weeks', monthly: '12 months' };

export function View({ query, answers: [volume] }: ViewProps<'volume'>) {
  const period = Object.keys(PERIODS).find((name): name is Period => name === query.get('period')) ?? 'daily';
  return (
    <>
      <Choices label="Period" parameter="period" options={PERIODS} />
      <Panel title="Each completed conversion counts once" answer={volume} isList frame="tall">
        {(rows) => <VolumeChart rows={rows} period={period} />}
      </Panel>
    </>
  );
}
