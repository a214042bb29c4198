/** A chain in figures, now or as of a block, and its newest blocks. */
import { useState } from 'preact/hooks';
import {
  type Answer,
  blockColumn,
  Field,
  Fields,
  handleSubmit,
  hrefOf,
  isAnswerOf,
  nativeNameOf,
  Panel,
  Proof,
  replaceQuery,
  SaidAt,
  Share,
  Table,
  Value,
  type ViewProps,
} from '../kit.ts';
import { ChainCharts } from './chain-charts.tsx';

export function View({ parts: { chain }, query, answers: [figures, blocks] }: ViewProps<'chain'>) {
  const height = query.get('height');
  return (
    <>
      <nav class="lists" aria-label={`Lists of ${chain}`}>
        <a href={hrefOf('blocks', { chain })}>Blocks</a>
        <a href={hrefOf('stakes', { chain })}>Stakes</a>
        <a href={hrefOf('identities', { chain })}>Identities</a>
        <a href={hrefOf('currencies', { chain })}>Currencies</a>
        <a href={hrefOf('richlist', { chain })}>Rich list</a>
        <a href={hrefOf('bridge', { chain })}>Bridge</a>
      </nav>
      <AsOfBlock height={height} />
      {isAnswerOf(figures, '/api/stats/network') && <Now answer={figures} chain={chain} />}
      {isAnswerOf(figures, '/api/stats/network/{height}') && <Then answer={figures} chain={chain} />}
      <NewestBlocks answer={blocks} chain={chain} />
      <ChainCharts chain={chain} query={query} />
    </>
  );
}

function AsOfBlock({ height }: { readonly height: string | null }) {
  const [text, setText] = useState(height ?? '');
  return (
    <form class="as-of-block" onSubmit={handleSubmit(() => replaceQuery({ height: /^\d+$/.test(text) ? text : null }))}>
      <label>
        Figures as of block{' '}
        <input
          type="text"
          inputMode="numeric"
          pattern="[0-9]{1,9}"
          name="height"
          placeholder="newest"
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
      </label>
      <button type="submit">Show</button>
      <button
        type="button"
        disabled={height === null}
        onClick={() => {
          setText('');
          replaceQuery({ height: null });
        }}
      >
        Now
      </button>
    </form>
  );
}

interface FiguresProps<Path extends '/api/stats/network' | '/api/stats/network/{height}'> {
  readonly answer: Answer<Path>;
  readonly chain: string;
}

function Now({ answer, chain }: FiguresProps<'/api/stats/network'>) {
  const unit = nativeNameOf(chain);
  return (
    <Panel title="Now" answer={answer} frame="medium">
      {({ height, figuresAt }) => (
        <>
          <Fields>
            <Field label="Newest block" at="height" as="integer" href={hrefOf('block', { chain, block: height })} />
            <Shares />
            <Field label="Difficulty" help="Of the next block by proof of work">
              <Value at="difficulty" as="price" why="the daemon does not answer" />
            </Field>
            <Field label="Hash rate" help="Over 120 blocks">
              <Value at="hashRate" as="integer" unit="H/s" why="the daemon does not answer" />
            </Field>
            <Field label="Coins that stake" help="Estimated over 100 blocks">
              <Value at="stakingSupply" as="amount" unit={unit} why="the daemon does not answer" />
            </Field>
            <Field label="Share of coins that stakes">
              <Share at="stakingParticipation" why="the daemon does not answer" />
            </Field>
            <Supply unit={unit} />
            <Field label="Reported by the daemon at" help="Difficulty, hash rate and staking are as of then">
              <SaidAt at={figuresAt} />
            </Field>
          </Fields>
        </>
      )}
    </Panel>
  );
}

function Then({ answer, chain }: FiguresProps<'/api/stats/network/{height}'>) {
  const unit = nativeNameOf(chain);
  return (
    <Panel title="As of a block" answer={answer} frame="medium">
      {({ height }) => (
        <Fields>
          <Field label="Block" at="height" as="integer" href={hrefOf('block', { chain, block: height })} />
          <Field label="Hash" at="hash" as="id" />
          <Field label="Time" at="time" as="time" />
          <Shares />
          <Field label="Difficulty" help="Of the block" at="difficulty" as="price" />
          <Field label="Hash rate" help="Over 120 blocks">
            <Value at="hashRate" as="integer" unit="H/s" why="the chain was too young" />
          </Field>
          <Supply unit={unit} />
          <Field label="Coins in transparent outputs">
            <Value at="transparentSupply" as="amount" unit={unit} why="not known at this height" />
          </Field>
          <Field label="Coins shielded" at="shieldedSupply" as="amount" unit={unit} why="not known at this height" />
          <Field label="Fee pool" at="feePool" as="amount" unit={unit} why="there was none yet" />
          <Field label="Work so far" at="chainWork" as="id" />
          <Field label="Stake so far" at="chainStake" as="id" />
        </Fields>
      )}
    </Panel>
  );
}

function Shares() {
  return (
    <>
      <Field label="Block time" help="Mean of 100 blocks">
        <Value at="avgBlockTime" as="price" unit="s" why="the chain is too young" />
      </Field>
      <Field label="Blocks by stake" help="Of the last 1,000">
        <Share at="posRatio" why="the chain is too young" />
      </Field>
      <Field label="Blocks by work" help="Of the last 1,000">
        <Share at="powRatio" why="the chain is too young" />
      </Field>
    </>
  );
}

function Supply({ unit }: { readonly unit: string }) {
  return (
    <>
      <Field label="Coins in circulation" help="All coins issued, shielded ones included">
        <Value at="circulatingSupply" as="amount" unit={unit} why="not known" />
      </Field>
      <Field label="Coins in baskets" at="inPools" as="amount" unit={unit} />
    </>
  );
}

function NewestBlocks({ answer, chain }: { readonly answer: Answer<'/api/blocks/'>; readonly chain: string }) {
  return (
    <Panel title="Newest blocks" answer={answer} isList frame="tall">
      {({ results }) => (
        <Table
          at="/results"
          rows={results}
          caption={`Newest blocks of ${chain}`}
          empty="The chain has no block."
          columns={[
            blockColumn('Height', 'height', chain),
            { head: 'Hash', at: 'hash', as: 'id' },
            { head: 'Time', at: 'time', as: 'time' },
            { head: 'By', cell: ({ validationType }) => <Proof type={validationType} /> },
            { head: 'Transactions', at: 'txCount', as: 'integer' },
            { head: 'Reward', at: 'blockReward', as: 'amount', unit: nativeNameOf(chain) },
          ]}
        />
      )}
    </Panel>
  );
}
