/** An address's balance of a currency, day by day. */
import { type Answer, type AnswerOf, blockColumn, Chart, Choices, Panel, Pick, shownNumber } from '../kit.ts';

type Point = AnswerOf<'/api/address/{addr}/series'>['data'][number];

interface OverTimeProps {
  readonly answer: Answer<'/api/address/{addr}/series'>;
  /** The current balances. */
  readonly held: readonly { readonly currencyId: string; readonly currencyName: string | null }[];
  readonly query: URLSearchParams;
}

const DAYS = { 30: '30 days', 90: '90 days', 365: '1 year' } as const;
const DAY = 86_400;

export function OverTime({ answer, held, query }: OverTimeProps) {
  return (
    <>
      <div class="filter">
        <Pick
          name="currency"
          options={held.map(({ currencyName, currencyId }) => currencyName ?? currencyId)}
          areNames
          query={query}
          none="native coin"
        />
        <Choices label="Days" parameter="days" options={DAYS} isInPlace />
      </div>
      <Panel title="Balance by day" answer={answer} isList frame="tall">
        {({ chain, currencyName, currencyId, data }) => {
          const unit = currencyName ?? currencyId;
          return (
            <Chart
              at="/data"
              points={data}
              name={`Balance of ${unit} by day`}
              caption={sentence(data, unit)}
              time={({ date }) => date}
              step={DAY}
              series={[{ name: 'Balance', kind: 'area', unit, as: 'amount', value: ({ balance }) => balance }]}
              empty="The chain has no block in these days."
              columns={[
                { head: 'Day', at: 'date' },
                blockColumn('Last block', 'height', chain),
                { head: 'Balance', at: 'balance', as: 'amount' },
                { head: 'Ever received', at: 'received', as: 'amount' },
              ]}
            />
          );
        }}
      </Panel>
    </>
  );
}

function sentence(data: readonly Point[], unit: string): string {
  const [first, last] = [data[0], data.at(-1)];
  if (!first || !last) return '';
  const now = `${shownNumber(last.balance, 'amount')} ${unit} at the end of ${last.date}`;
  if (data.length === 1) return `${now}.`;
  return `${now}, ${shownNumber(first.balance, 'amount')} ${unit} at the end of ${first.date}.`;
}
