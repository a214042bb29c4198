/** How the service itself is: its index, its health, and whether its stores agree. */
import {
  At,
  chainNames,
  Field,
  Fields,
  hrefOf,
  JsonTree,
  Panel,
  SaidAt,
  Table,
  Value,
  type ViewProps,
} from '../kit.ts';

export function View({ answers: [service, ready] }: ViewProps<'status'>) {
  return (
    <>
      <Panel title="Health" answer={ready} frame="short">
        {({ status, reasons, notes }) => (
          <>
            <p class="lead">
              <span class={`status ${status === 'ready' ? 'completed' : 'unmatched'}`}>
                <Value at="status" as="word" />
              </span>
            </p>
            <Reasons
              at="/reasons"
              rows={reasons}
              caption="Why it is not ready"
              empty="Nothing keeps it from being ready."
            />
            <Reasons at="/notes" rows={notes} caption="Worth knowing" empty="Nothing else is worth knowing." />
          </>
        )}
      </Panel>
      <Panel title="Service" answer={service} frame="short">
        {() => (
          <Fields>
            <Field label="Index">
              <Value at="/indexer/state" as="word" why="it has not begun" />
            </Field>
            <Field label="In this state since">
              <Value at="/indexer/updatedAt" as="time" why="it has not begun" />
            </Field>
            <Field label="Transactions">
              <Value at="/data/transactions" as="integer" />
            </Field>
            <Field label="Addresses" help="Estimated, to a few tenths of a percent">
              <Value at="/data/addresses" as="integer" />
            </Field>
            <Field label="Conversions">
              <Value at="/data/conversionsTotal" as="integer" />
            </Field>
            <Field label="Daemon's height">
              <Value at="/verusd/chainHeight" as="integer" why="the daemon is silent" />
            </Field>
          </Fields>
        )}
      </Panel>
      {chainNames.map((chain) => (
        <Panel key={chain} title={chain} answer={service} frame="tall">
          {({ chains }) =>
            chains[chain] && (
              <OfChain chain={chain} hasAudit={chains[chain].audit !== null} figuresAt={chains[chain].figuresAt} />
            )
          }
        </Panel>
      ))}
    </>
  );
}

interface ReasonsProps {
  readonly at: string;
  readonly rows: readonly object[];
  readonly caption: string;
  readonly empty: string;
}

function Reasons(props: ReasonsProps) {
  return (
    <Table
      {...props}
      columns={[
        { head: 'What', cell: () => <Value at="code" as="word" /> },
        { head: 'Chain', cell: () => <Value at="chain" as="word" why="every chain" /> },
        { head: 'Stage', cell: () => <Value at="stage" as="word" why="no stage" /> },
        { head: 'Cause', cell: () => <Value at="cause" as="word" why="none is named" /> },
        { head: 'In words', cell: () => <Value at="detail" as="text" /> },
        {
          head: 'Time left',
          isNumber: true,
          cell: () => <Value at="etaSeconds" as="integer" unit="s" why="not known" />,
        },
      ]}
    />
  );
}

interface OfChainProps {
  readonly chain: string;
  readonly hasAudit: boolean;
  readonly figuresAt: string | null;
}

function OfChain({ chain, hasAudit, figuresAt }: OfChainProps) {
  return (
    <At at={`/chains/${chain}`}>
      <Fields>
        <Field label="Healthy">
          <Value at="healthy" />
        </Field>
        <Field label="Height of the daemon">
          <Value at="height" as="integer" why="the daemon is silent" />
        </Field>
        <Field label="Height of the index">
          <Value at="indexedHeight" as="integer" why="nothing is indexed" />
        </Field>
        <Field label="Blocks behind">
          <Value at="lag" as="integer" why="the daemon is silent" />
        </Field>
        <Field label="Dead letters" help="Parts of blocks that could not be decoded">
          <Value at="deadLetters" as="integer" />
        </Field>
        <Field label="Connections of the daemon">
          <Value at="connections" as="integer" why="the daemon is silent" />
        </Field>
        <Field label="Said by the daemon at" help="Its connections, hash rate and difficulty are as it said then">
          <SaidAt at={figuresAt} />
        </Field>
        <Field label="Conversions stamped live">
          <Value at="conversionsStamped/live" as="integer" />
        </Field>
        <Field label="Conversions stamped afterwards">
          <Value at="conversionsStamped/backfill" as="integer" />
        </Field>
        <Field label="Conversions without a stamp">
          <Value at="conversionsWithoutStamp" as="integer" why="not audited yet" />
        </Field>
      </Fields>
      {hasAudit ? (
        <At at={`/chains/${chain}/audit`}>
          <h3>Audit of the two stores</h3>
          <Fields>
            <Field label="Verdict">
              <Value at="state" as="word" />
            </Field>
            <Field label="Facts agree up to block">
              <Value at="checkedHeight" as="integer" why="not checked yet" />
            </Field>
            <Field label="Stamps agree up to block">
              <Value at="stampsCheckedHeight" as="integer" why="not checked yet" />
            </Field>
            <Field label="Digest">
              <Value at="digest" as="id" why="not checked yet" />
            </Field>
            <Field label="Checked">
              <Value at="checkedAt" as="time" />
            </Field>
            <Nullable at="lastMismatch" label="Last mismatch" />
            <Nullable at="lastViolation" label="Last broken invariant" />
          </Fields>
        </At>
      ) : (
        <p>
          Audit: <Value at="audit" why="not run yet" />
        </p>
      )}
      <p>
        <a href={hrefOf('chain', { chain })}>Figures of {chain}</a>
      </p>
    </At>
  );
}

/** What went wrong last, member by member. */
function Nullable({ at, label }: { readonly at: string; readonly label: string }) {
  return (
    <Field label={label}>
      <JsonTree at={at} />
    </Field>
  );
}
