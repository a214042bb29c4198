/** Sums the usage of a span by key or by route, the most credits first. */
import { type AnswerOf, PlainTable, shownNumber, Text } from '../kit.ts';

export type UsageRow = AnswerOf<'/api/usage'>['results'][number];

interface SumsProps {
  readonly rows: readonly UsageRow[];
  readonly head: 'Key' | 'Route';
  readonly group: (row: UsageRow) => string;
  readonly nameOf: (group: string) => string;
}

const MOST_ROWS = 30;
const NUMBERS = ['requests', 'credits', 'refused'] as const;
const HEADS: Readonly<Record<(typeof NUMBERS)[number], string>> = {
  requests: 'Requests',
  credits: 'Credits',
  refused: 'Refused',
};

export function UsageSums({ rows, head, group, nameOf }: SumsProps) {
  const sums = sumsOf(rows, group);
  if (sums.length === 0) return null;
  const caption = `Sums by ${head.toLowerCase()}`;
  return (
    <div class="scroll">
      <p class="note" aria-hidden="true">
        {caption}
      </p>
      <div data-derived="sums">
        <PlainTable
          caption={caption}
          isCaptionHidden
          rows={sums.slice(0, MOST_ROWS)}
          columns={[
            { label: head, cell: (sum) => <Text text={nameOf(sum.group)} isName /> },
            ...NUMBERS.map((name) => ({
              label: HEADS[name],
              isNumber: true,
              cell: (sum: (typeof sums)[number]) => shownNumber(String(sum[name]), 'integer'),
            })),
          ]}
        />
      </div>
      {sums.length > MOST_ROWS && <p class="note">The CSV has the others.</p>}
    </div>
  );
}

function sumsOf(rows: readonly UsageRow[], group: (row: UsageRow) => string) {
  const sums = [...Map.groupBy(rows, group)].map(([name, some]) => {
    const sum = (of: (typeof NUMBERS)[number]) => some.reduce((all, row) => all + Number(row[of]), 0);
    return { group: name, requests: sum('requests'), credits: sum('credits'), refused: sum('refused') };
  });
  return sums.sort((a, b) => b.credits - a.credits || b.requests - a.requests);
}
