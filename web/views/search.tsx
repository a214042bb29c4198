/** The results for a text on every chain, and similar names when there are none. */
import { foundHref, Panel, Table, type ViewProps } from '../kit.ts';

type Result = NonNullable<ViewProps<'search'>['answers'][0]['shown']['value']>['data']['results'][number];

export function View({ answers: [found] }: ViewProps<'search'>) {
  return (
    <Panel title="Found" answer={found} frame="medium">
      {({ results, near }) => (
        <>
          <Hits
            at="/results"
            hits={results}
            caption="What was found"
            empty="No block, transaction, address, identity or currency of these chains has this name."
          />
          {near.length > 0 && (
            <>
              <h3>Near names</h3>
              <Hits at="/near" hits={near} caption="Near names" empty="" />
            </>
          )}
        </>
      )}
    </Panel>
  );
}

interface HitsProps {
  readonly at: string;
  readonly hits: readonly Result[];
  readonly caption: string;
  readonly empty: string;
}

function Hits({ at, hits, caption, empty }: HitsProps) {
  return (
    <Table
      at={at}
      rows={hits}
      caption={caption}
      empty={empty}
      columns={[
        { head: 'What', at: 'type', as: 'word' },
        { head: 'Name', at: 'label', as: 'name', href: foundHref },
        { head: 'Chain', at: 'chain', as: 'word' },
        { head: 'Id', at: 'id', as: 'id' },
      ]}
    />
  );
}
