/** A block: its header, who made it, and its transactions. */
import {
  Amounts,
  type Answer,
  At,
  Field,
  Fields,
  hrefOf,
  nativeNameOf,
  Panel,
  Party,
  Proof,
  RevertedBanner,
  Table,
  Value,
  type ViewProps,
} from '../kit.ts';

export function View({ parts: { chain }, answers: [answer] }: ViewProps<'block'>) {
  const unit = nativeNameOf(chain);
  const shown = answer.shown.value;
  const blockLink = (block: string) => hrefOf('block', { chain, block });
  return (
    <>
      {!shown?.data.removal && <RevertedBanner chain={chain} height={shown?.data.height} readAt={shown?.at} />}
      {shown?.data.removal && <Removed answer={answer} chain={chain} />}
      {shown?.data.canonical && (
        <Neighbours chain={chain} height={shown.data.height} isTip={shown.data.nextHash === null} />
      )}
      <Panel title="Block" answer={answer} frame="tall">
        {(block) => (
          <Fields>
            <Field label="Height" at="height" as="integer" />
            <Field label="Hash" at="hash" as="id" />
            <Field label="Time" at="time" as="time" />
            <Field label="Confirmations" at="confirmations" as="integer" />
            <Field label="Made by">
              <Proof type={block.validationType} />
            </Field>
            <Field label={block.validationType === 'stake' ? 'Staker' : 'Miner'}>
              <Party at="minerAddress" chain={chain} why="the coinbase names none" />
            </Field>
            <Field label="Coins that won" at="stakeAmount" as="amount" unit={unit} why="made by work" />
            <Field label="Reward" at="blockReward" as="amount" unit={unit} />
            <Field label="Fees" help="Paid by the transactions of this block" at="fees" as="amount" unit={unit} />
            <Field label="Fee pool" help="Held by the fee pool after the block">
              <Value at="feePool" as="amount" unit={unit} why="this chain has none" />
            </Field>
            <Field label="Transactions" at="txCount" as="integer" />
            <Field label="Size" at="size" as="integer" unit="B" />
            <Field label="Difficulty" at="difficulty" as="price" />
            <Field label="Hash before">
              <Value
                at="previousHash"
                as="id"
                why="it is the first"
                href={block.previousHash && blockLink(String(Number(block.height) - 1))}
              />
            </Field>
            <Field label="Hash after">
              <Value
                at="nextHash"
                as="id"
                why="it is the newest"
                href={block.nextHash && blockLink(String(Number(block.height) + 1))}
              />
            </Field>
            <Field label="Merkle root" at="merkleRoot" as="id" />
            <Field label="Work so far" at="chainWork" as="id" />
            <Field label="Stake so far" at="chainStake" as="id" />
            <Field label="Bits" at="bits" />
            <Field label="Nonce" at="nonce" as="id" />
            <Field label="Version" at="version" as="integer" />
          </Fields>
        )}
      </Panel>
      <Panel title="Transactions" answer={answer} frame="medium">
        {({ transactions }) => (
          <Table
            at="/transactions"
            rows={transactions}
            caption="Transactions of the block"
            empty="The block has no transaction."
            columns={[
              { head: 'Transaction', at: 'txid', as: 'id', href: ({ txid }) => hrefOf('tx', { chain, txid }) },
              { head: 'Type', at: 'type', as: 'word' },
              { head: 'Fee', at: 'fee', as: 'amount', unit, why: 'a coinbase or an import pays none' },
              { head: 'Size', at: 'size', as: 'integer', unit: 'B' },
              {
                head: 'Sum of outputs',
                isNumber: true,
                cell: ({ currencies }) => <Amounts chain={chain} currencies={currencies} />,
              },
            ]}
          />
        )}
      </Panel>
    </>
  );
}

interface RemovedProps {
  readonly answer: Answer<'/api/blocks/{height}'>;
  readonly chain: string;
}

/** A block requested by its hash that a reorganisation has removed. */
function Removed({ answer, chain }: RemovedProps) {
  return (
    <Panel title="Taken back" answer={answer} frame="short">
      {({ removal }) =>
        removal && (
          <div data-testid="taken-back">
            <p class="lead">A reorganisation removed this block; the data below is from before its removal.</p>
            <At at="/removal">
              <Fields>
                <Field label="Last common block">
                  <Value at="forkHeight" as="integer" href={hrefOf('block', { chain, block: removal.forkHeight })} />
                </Field>
                <Field label="Blocks removed" at="depth" as="integer" />
                <Field label="Seen at" at="seenAt" as="time" why="no block of the other branch came" />
                <Field label="Reason" at="reason" as="word" />
                <Field label="In its place">
                  {removal.replacedBy === null ? (
                    <Value at="replacedBy" why="there is no block at this height" />
                  ) : (
                    <Value
                      at="replacedBy/hash"
                      as="id"
                      href={hrefOf('block', { chain, block: removal.replacedBy.hash })}
                    />
                  )}
                </Field>
              </Fields>
            </At>
          </div>
        )
      }
    </Panel>
  );
}

interface NeighboursProps {
  readonly chain: string;
  readonly height: string;
  readonly isTip: boolean;
}

function Neighbours({ chain, height, isTip }: NeighboursProps) {
  const link = (step: number) => hrefOf('block', { chain, block: String(Number(height) + step) });
  return (
    <nav class="pager" aria-label="Neighbouring blocks">
      {Number(height) > 0 && <a href={link(-1)}>Block before</a>}
      {!isTip && <a href={link(1)}>Block after</a>}
    </nav>
  );
}
