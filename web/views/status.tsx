/** The state of the service: its index, its health, and whether its stores agree. */
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
            <Field label="Index" at="/indexer/state" as="word" why="it has not begun" />
            <Field label="In this state since" at="/indexer/updatedAt" as="time" why="it has not begun" />
            <Field label="Transactions" at="/data/transactions" as="integer" />
            <Field label="Addresses" help="Estimated, to a few tenths of a percent" at="/data/addresses" as="integer" />
            <Field label="Conversions" at="/data/conversionsTotal" as="integer" />
            <Field label="Daemon's height" at="/verusd/chainHeight" as="integer" why="the daemon does not answer" />
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
        { head: 'What', at: 'code', as: 'word' },
        { head: 'Chain', at: 'chain', as: 'word', why: 'every chain' },
        { head: 'Stage', at: 'stage', as: 'word', why: 'no stage' },
        { head: 'Cause', at: 'cause', as: 'word', why: 'none is named' },
        { head: 'In words', at: 'detail', as: 'text' },
        { head: 'Time left', at: 'etaSeconds', as: 'integer', unit: 's', why: 'not known' },
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
        <Field label="Healthy" at="healthy" />
        <Field label="Height of the daemon" at="height" as="integer" why="the daemon does not answer" />
        <Field label="Height of the index" at="indexedHeight" as="integer" why="nothing is indexed" />
        <Field label="Blocks behind" at="lag" as="integer" why="the daemon does not answer" />
        <Field label="Dead letters" help="Parts of blocks that could not be decoded" at="deadLetters" as="integer" />
        <Field label="Connections of the daemon" at="connections" as="integer" why="the daemon does not answer" />
        <Field label="Reported by the daemon at" help="Its connections, hash rate and difficulty are as of then">
          <SaidAt at={figuresAt} />
        </Field>
        <Field label="Conversions stamped live" at="conversionsStamped/live" as="integer" />
        <Field label="Conversions stamped afterwards" at="conversionsStamped/backfill" as="integer" />
        <Field label="Conversions without a stamp" at="conversionsWithoutStamp" as="integer" why="not audited yet" />
      </Fields>
      {hasAudit ? (
        <At at={`/chains/${chain}/audit`}>
          <h3>Audit of the two stores</h3>
          <Fields>
            <Field label="Verdict" at="state" as="word" />
            <Field label="Facts agree up to block" at="checkedHeight" as="integer" why="not checked yet" />
            <Field label="Stamps agree up to block" at="stampsCheckedHeight" as="integer" why="not checked yet" />
            <Field label="Digest" at="digest" as="id" why="not checked yet" />
            <Field label="Checked" at="checkedAt" as="time" />
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

/** The last problem, member by member. */
function Nullable({ at, label }: { readonly at: string; readonly label: string }) {
  return (
    <Field label={label}>
      <JsonTree at={at} />
    </Field>
  );
}
