/** The live view: newest blocks, mempool, prices, and news of the stream. */

import { useLayoutEffect } from 'preact/hooks';
import {
  type AnswerOf,
  At,
  type BlockOfLane,
  chainNames,
  Field,
  Fields,
  hrefOf,
  layAnswer,
  noteTip,
  Panel,
  SaidAt,
  Table,
  Value,
  type ViewProps,
} from '../kit.ts';
import { type AnsweredBlock, LaneOfBlocks } from './live-lane.tsx';
import { MempoolPanel } from './live-mempool.tsx';
import { NewsPanel } from './live-news.tsx';

export function View({ answers: [pulse, status, overview] }: ViewProps<'live'>) {
  const shown = pulse.shown.value;
  useLayoutEffect(() => {
    if (!shown) return;
    for (const chain of chainNames) {
      const blocks = answeredOf(shown.data, chain).map(({ block }) => block);
      layAnswer(chain, blocks, shown.at);
      const [newest] = blocks;
      if (newest) noteTip(chain, { height: newest.height, hash: newest.hash, time: newest.time * 1000 }, shown.at);
    }
  }, [shown]);
  return (
    <>
      <Panel title="Newest blocks" answer={pulse} frame="medium">
        {(data) =>
          Object.entries(data.chains).map(([chain, tip]) => (
            <LaneOfBlocks key={chain} chain={chain} answered={answeredOf(data, chain)} hasTip={tip !== null} />
          ))
        }
      </Panel>
      <MempoolPanel />
      <div class={chainNames.length > 1 ? 'columns long-last' : 'columns'}>
        <Panel title="Prices" answer={overview} frame="tall">
          {({ topMovers }) => (
            <Table
              at="/topMovers"
              rows={topMovers}
              caption="Prices and their change in a day"
              empty="No currency has enough depth for a price."
              columns={[
                {
                  head: 'Currency',
                  at: 'name',
                  as: 'name',
                  href: ({ currencyId }) => hrefOf('price', { id: currencyId }),
                },
                { head: 'Price', at: 'price', as: 'price', unit: 'USD', why: 'not priced' },
                { head: '24 h', at: 'change24h', as: 'usd', unit: '%', why: 'no price a day before' },
              ]}
            />
          )}
        </Panel>
        <Panel title="Largest baskets" answer={overview} frame="tall">
          {({ topBaskets }) => (
            <Table
              at="/topBaskets"
              rows={topBaskets}
              caption="Baskets by what they hold"
              empty="No basket trades."
              columns={[
                {
                  head: 'Basket',
                  at: 'name',
                  as: 'name',
                  href: ({ currencyId }) => hrefOf('basket', { basket: currencyId }),
                },
                { head: 'Chain', at: 'chain', as: 'word' },
                { head: 'Holds', at: 'tvl', as: 'usd', unit: 'USD', why: 'a reserve has no price' },
                { head: 'Volume 24 h', at: 'volume24h', as: 'usd', unit: 'USD', why: 'not known' },
              ]}
            />
          )}
        </Panel>
        <NewsPanel />
        <Panel title="Service" answer={status} frame="medium">
          {({ chains }) => (
            <>
              <Fields>
                <Field label="Transactions" at="/data/transactions" as="integer" />
                <Field label="Addresses" at="/data/addresses" as="integer" />
                <Field label="Conversions" at="/data/conversionsTotal" as="integer" />
              </Fields>
              {Object.keys(chains).map((chain) => (
                <At key={chain} at={`/chains/${chain}`}>
                  <h3>{chain}</h3>
                  <Fields>
                    <Field label="Indexed">
                      <Value at="indexedHeight" as="integer" why="nothing yet" href={hrefOf('blocks', { chain })} />
                    </Field>
                    <Field label="Behind its daemon">
                      <Value at="lag" as="integer" unit="blocks" why="the daemon was not asked yet" />
                    </Field>
                    <Field label="Hash rate" at="hashRate" as="integer" unit="H/s" why="the daemon was not asked yet" />
                    <Field label="Difficulty" at="difficulty" as="price" why="the daemon was not asked yet" />
                    <Field label="Reported by the daemon at">
                      <SaidAt at={chains[chain]?.figuresAt ?? null} />
                    </Field>
                    <Field label="Healthy" at="healthy" />
                  </Fields>
                </At>
              ))}
            </>
          )}
        </Panel>
      </div>
    </>
  );
}

type Pulse = AnswerOf<'/api/stats/pulse'>;

/** Blocks of the chain among the newest of all chains, followed by the chain's own newest blocks. */
function answeredOf({ blocks, newest }: Pulse, chain: string): readonly AnsweredBlock[] {
  const ofAll = blocks.flatMap((block, index) =>
    block.chain === chain ? [{ at: `/blocks/${index}`, isRow: true, block: laneBlock(block) }] : [],
  );
  const ofChain = (newest[chain] ?? []).map((block, index) => {
    return { at: `/newest/${chain}/${index}`, isRow: false, block: laneBlock(block) };
  });
  const known = new Set(ofAll.map(({ block }) => block.hash));
  return [...ofAll, ...ofChain.filter(({ block }) => !known.has(block.hash))];
}

type PulseBlock = Pick<Pulse['blocks'][number], 'height' | 'hash' | 'time' | 'txCount'> & {
  readonly validationType: string;
};

function laneBlock({ height, hash, time, txCount, validationType }: PulseBlock): BlockOfLane {
  const isStake = validationType === 'stake';
  return { height: Number(height), hash, time: Number(time), txCount: Number(txCount), isStake, cursor: null };
}
