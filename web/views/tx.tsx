/** A transaction: its inputs, its outputs, and its conversions. */
import {
  Amounts,
  type Answer,
  conversionHref,
  Field,
  Fields,
  Given,
  hrefOf,
  JsonTree,
  nativeNameOf,
  Paid,
  Panel,
  Party,
  RevertedBanner,
  StandingBanner,
  Status,
  Table,
  Unconfirmed,
  Value,
  type ViewProps,
} from '../kit.ts';
import { WhatWaits } from './tx-waiting.tsx';

interface PartProps {
  readonly answer: Answer<'/api/tx/{txid}'>;
  readonly chain: string;
}

export function View({ parts: { chain, txid }, answers: [answer] }: ViewProps<'tx'>) {
  const shown = answer.shown.value;
  const height = shown?.data.height ?? null;
  const isWaiting = shown ? height === null : null;
  return (
    <>
      <StandingBanner answer={answer} chain={chain} txid={txid.toLowerCase()} isWaiting={isWaiting} />
      <RevertedBanner chain={chain} height={height ?? undefined} readAt={shown?.at} />
      <Summary answer={answer} chain={chain} />
      {shown?.data.unconfirmed && <WhatWaits answer={answer} chain={chain} />}
      <Inputs answer={answer} chain={chain} />
      <Outputs answer={answer} chain={chain} />
      {(shown?.data.conversions.length ?? 0) > 0 && <Conversions answer={answer} chain={chain} />}
    </>
  );
}

function Summary({ answer, chain }: PartProps) {
  return (
    <Panel title="Transaction" answer={answer} frame="medium">
      {({ height, types, unconfirmed }) => (
        <Fields>
          <Field label="Id" at="txid" as="id" />
          <Field label="Block">
            <Value
              at="height"
              as="integer"
              why="in no block yet"
              {...(height !== null && { href: hrefOf('block', { chain, block: height }) })}
            />{' '}
            {height === null && <Unconfirmed />}
          </Field>
          <Field label="Block hash" at="blockHash" as="id" why="in no block yet" />
          <Field label={unconfirmed ? 'Seen at' : 'Time'} at="time" as="time" />
          <Field label="Confirmations" at="confirmations" as="integer" />
          <Field label="Type" at="type" as="word" />
          <Field label="All its types" help="A transaction may do several things at once">
            <span class="words">
              {types.map((type, index) => (
                <Value key={type} at={`/types/${index}`} as="word" />
              ))}
            </span>
          </Field>
          <Field label="Fee" at="fee" as="amount" unit={nativeNameOf(chain)} why="a coinbase or an import pays none" />
          {unconfirmed && (
            <Field label="Fee rate">
              <Value at="unconfirmed/feeRate" as="price" unit="sat/B" why="not all that it spends is known" />
            </Field>
          )}
          <Field label="Size" at="size" as="integer" unit="B" />
          <Field label="Expires at" at="expiryHeight" as="integer" />
          <Field label="Lock time" at="lockTime" as="integer" />
        </Fields>
      )}
    </Panel>
  );
}

function Inputs({ answer, chain }: PartProps) {
  return (
    <Panel title="Inputs" answer={answer} frame="short">
      {({ inputs, isCoinbase }) => (
        <Table
          at="/inputs"
          rows={inputs}
          caption="What the transaction spent"
          empty={isCoinbase ? 'A coinbase spends nothing: its coins are new.' : 'It spends no transparent output.'}
          columns={[
            { head: 'Output of', at: 'txid', as: 'id', href: ({ txid }) => hrefOf('tx', { chain, txid }) },
            { head: 'Number', at: 'vout', as: 'integer' },
            { head: 'Address', cell: ({ addresses }) => <Addresses chain={chain} addresses={addresses} /> },
            {
              head: 'Amount',
              isNumber: true,
              cell: ({ currencies }) => <Amounts chain={chain} currencies={currencies} />,
            },
          ]}
        />
      )}
    </Panel>
  );
}

function Outputs({ answer, chain }: PartProps) {
  return (
    <Panel title="Outputs" answer={answer} frame="medium">
      {({ outputs }) => (
        <Table
          at="/outputs"
          rows={outputs}
          caption="What the transaction made"
          empty="It makes no transparent output."
          columns={[
            { head: 'Number', at: 'n', as: 'integer' },
            { head: 'Kind', cell: ({ kind }) => <Value at="kind">{OUTPUT_KINDS.get(kind)}</Value> },
            { head: 'Address', cell: ({ addresses }) => <Addresses chain={chain} addresses={addresses} /> },
            {
              head: 'Amount',
              isNumber: true,
              cell: ({ currencies }) => <Amounts chain={chain} currencies={currencies} />,
            },
            {
              head: 'Spent by',
              at: 'spentTxid',
              as: 'id',
              why: 'not spent',
              href: ({ spentTxid }) => spentTxid && hrefOf('tx', { chain, txid: spentTxid }),
            },
            { head: 'Decoded', cell: ({ data }) => <Decoded data={data} /> },
          ]}
        />
      )}
    </Panel>
  );
}

/** Names of output kinds; other kinds are shown under the chain's own name. */
const OUTPUT_KINDS: ReadonlyMap<string, string> = new Map([
  ['acceptednotarization', 'accepted notarization'],
  ['commitmenthash', 'name commitment'],
  ['crosschainexport', 'export'],
  ['crosschainimport', 'import'],
  ['cryptocondition', 'smart output'],
  ['currencydefinition', 'currency definition'],
  ['earnednotarization', 'earned notarization'],
  ['feepool', 'fee pool'],
  ['finalizeexport', 'end of an export'],
  ['finalizenotarization', 'end of a notarization'],
  ['identityadvancedreservation', 'name reservation'],
  ['identitycommitment', 'name commitment'],
  ['identityprimary', 'identity'],
  ['identityrecover', 'right to recover'],
  ['identityreservation', 'name reservation'],
  ['identityrevoke', 'right to revoke'],
  ['nulldata', 'data'],
  ['pubkey', 'payment to a public key'],
  ['pubkeyhash', 'payment'],
  ['reservedeposit', 'reserve deposit'],
  ['reserveoutput', 'payment of tokens'],
  ['reservetransfer', 'transfer request'],
  ['scripthash', 'payment to a script'],
  ['stakeguard', 'stake guard'],
]);

function Decoded({ data }: { readonly data: unknown }) {
  if (data === null) return <Value at="data" why="a plain script" />;
  return (
    <details>
      <summary>open</summary>
      <JsonTree at="data" />
    </details>
  );
}

interface AddressesProps {
  readonly chain: string;
  readonly addresses: readonly string[];
}

function Addresses({ chain, addresses }: AddressesProps) {
  return (
    <>
      {addresses.map((address, index) => (
        <div key={address}>
          <Party at={`addresses/${index}`} chain={chain} />
        </div>
      ))}
    </>
  );
}

function Conversions({ answer, chain }: PartProps) {
  return (
    <Panel title="Conversions" answer={answer} frame="short">
      {({ conversions }) => (
        <Table
          at="/conversions"
          rows={conversions}
          caption="Conversions that it requested or settled"
          empty="It converts nothing."
          columns={[
            {
              head: 'Status',
              cell: ({ status }) => <Status is={status} />,
            },
            { head: 'Conversion', at: 'txid', as: 'id', href: conversionHref },
            { head: 'Type', at: 'type', as: 'word' },
            { head: 'In', isNumber: true, cell: () => <Given chain={chain} /> },
            { head: 'Out', isNumber: true, cell: () => <Paid chain={chain} /> },
            { head: 'Price', at: 'price', as: 'price', why: 'nothing was paid out' },
            {
              head: 'Fee',
              isNumber: true,
              cell: ({ fromCurrencyName }) => (
                <>
                  <Value at="fee" as="amount" />{' '}
                  {fromCurrencyName !== null && <Value at="fromCurrencyName" as="name" />}
                </>
              ),
            },
            { head: 'Worth', at: 'usdValue', as: 'usd', unit: 'USD', why: 'no price at its height' },
            {
              head: 'Executed in',
              at: 'importTxid',
              as: 'id',
              why: 'not executed yet',
              href: ({ importTxid, importChain }) =>
                importTxid && hrefOf('tx', { chain: importChain ?? chain, txid: importTxid }),
            },
          ]}
        />
      )}
    </Panel>
  );
}
