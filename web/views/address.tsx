/** An address: its balances, and the effect of each transaction on it. */
import { useMemo, useState } from 'preact/hooks';
import {
  ADDRESS_TABS,
  type Answer,
  At,
  ask,
  blockColumn,
  Copy,
  Currency,
  call,
  Field,
  Fields,
  hrefOf,
  isAnswerOf,
  nativeNameOf,
  PagedTable,
  Panel,
  Qr,
  Table,
  Tabs,
  tabOf,
  Value,
  type ViewProps,
} from '../kit.ts';
import { OverTime } from './address-over-time.tsx';
import { AddressWaiting } from './address-waiting.tsx';
import { ConversionTable } from './conversion-table.tsx';

export function View({ parts: { chain, addr }, query, answers: [balance, list] }: ViewProps<'address'>) {
  return (
    <>
      <Balance answer={balance} chain={chain} addr={addr} />
      <Tabs label="Of the address" tabs={ADDRESS_TABS} chosen={tabOf(ADDRESS_TABS, query)}>
        {isAnswerOf(list, '/api/address/{addr}') && (
          <>
            <AddressWaiting answer={list} chain={chain} />
            <History answer={list} chain={chain} />
          </>
        )}
        {isAnswerOf(list, '/api/address/{addr}/rewards') && <Rewards answer={list} chain={chain} />}
        {isAnswerOf(list, '/api/address/{addr}/conversions') && <Conversions answer={list} chain={chain} />}
        {isAnswerOf(list, '/api/address/{addr}/series') && (
          <OverTime answer={list} held={balance.shown.value?.data.balances ?? []} query={query} />
        )}
      </Tabs>
      <OnOtherChains addr={addr} />
    </>
  );
}

/** Requested on demand: together with the balance it would exceed the cost allowed for a view. */
function OnOtherChains({ addr }: { readonly addr: string }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Chains that know this address</summary>
      {isOpen && <KnownOn addr={addr} />}
    </details>
  );
}

/** An address is the same on every chain. */
function KnownOn({ addr }: { readonly addr: string }) {
  const answer = useMemo(() => ask(call('/api/address/{addr}/chains', { path: { addr } })), [addr]);
  return (
    <Panel title="Known on" answer={answer} frame="short">
      {({ results }) => (
        <Table
          at="/results"
          rows={results}
          caption="Chains that know the address"
          empty="No chain knows it."
          columns={[
            {
              head: 'Chain',
              at: 'chain',
              as: 'word',
              href: ({ chain, address }) => hrefOf('address', { chain, addr: address }),
            },
            { head: 'Identity', at: 'name', as: 'name', why: 'no identity there' },
            { head: 'First block', at: 'firstHeight', as: 'integer' },
            { head: 'Last block', at: 'lastHeight', as: 'integer' },
            { head: 'Last time', at: 'lastTime', as: 'time' },
          ]}
        />
      )}
    </Panel>
  );
}

interface BalanceProps {
  readonly answer: Answer<'/api/address/{addr}/balance'>;
  readonly chain: string;
  readonly addr: string;
}

function Balance({ answer, chain, addr }: BalanceProps) {
  const unit = nativeNameOf(chain);
  const resolved = answer.shown.value?.data.address ?? addr;
  return (
    <Panel title="Holds" answer={answer} frame="medium">
      {({ address, height, balances }) => (
        <div class="beside">
          <div>
            <div class="whole-id">
              <Value at="address" />
              <Copy label="Copy address" text={address} />
              {address.startsWith('i') && (
                <a href={hrefOf('identity', { chain, name: address })}>Its identity on {chain}</a>
              )}
            </div>
            <dl class="facts">
              <Field label="Holds">
                <strong>
                  <Value at="native" as="amount" unit={unit} />
                </strong>
              </Field>
              <Field label="Ever received" at="received" as="amount" unit={unit} />
              <Field label="As of block" at="height" as="integer" href={hrefOf('block', { chain, block: height })} />
            </dl>
            <Table
              at="/balances"
              rows={balances}
              caption="Balances by currency"
              empty="It holds nothing."
              columns={[
                { head: 'Currency', cell: () => <Currency chain={chain} name="currencyName" id="currencyId" /> },
                { head: 'Balance', at: 'balance', as: 'amount' },
                { head: 'Worth', at: 'usdValue', as: 'usd', unit: 'USD', why: 'the currency has no price' },
              ]}
            />
          </div>
          <Qr text={resolved} label="The address as a QR code" />
        </div>
      )}
    </Panel>
  );
}

interface ListProps<Path extends Parameters<typeof isAnswerOf>[1]> {
  readonly answer: Answer<Path>;
  readonly chain: string;
}

function History({ answer, chain }: ListProps<'/api/address/{addr}'>) {
  const unit = nativeNameOf(chain);
  return (
    <Panel title="By transaction" answer={answer} isList frame="tall">
      {(list) => (
        <PagedTable
          list={list}
          caption="What each transaction did to the address, newest first"
          empty="No transaction has touched it."
          columns={[
            blockColumn('Block', 'height', chain),
            { head: 'Time', at: 'time', as: 'time' },
            { head: 'Transaction', at: 'txid', as: 'id', href: ({ txid }) => hrefOf('tx', { chain, txid }) },
            { head: 'Type', at: 'type', as: 'word' },
            { head: 'Received', at: 'received', as: 'amount' },
            { head: 'Sent', at: 'sent', as: 'amount' },
            {
              head: 'Net',
              isNumber: true,
              cell: ({ net, currencies }) => (
                <>
                  <div class={direction(net)}>
                    <Value at="net" as="amount" unit={unit} />
                  </div>
                  {currencies.map(({ currencyId, amount }, index) => (
                    <At key={currencyId} at={`currencies/${index}`}>
                      <div class={direction(amount)}>
                        <Value at="amount" as="amount" /> <Currency chain={chain} name="currencyName" id="currencyId" />
                      </div>
                    </At>
                  ))}
                </>
              ),
            },
          ]}
        />
      )}
    </Panel>
  );
}

function direction(amount: string): string | undefined {
  if (Number(amount) === 0) return undefined;
  return Number(amount) < 0 ? 'loss' : 'gain';
}

function Rewards({ answer, chain }: ListProps<'/api/address/{addr}/rewards'>) {
  const unit = nativeNameOf(chain);
  return (
    <Panel title="Rewards" answer={answer} isList frame="tall">
      {(list) => (
        <>
          <Fields>
            {(['mining', 'staking'] as const).map((kind) => (
              <Field key={kind} label={kind === 'mining' ? 'By mining' : 'By staking'}>
                <Value at={`/${kind}/total`} as="amount" unit={unit} /> in{' '}
                <Value at={`/${kind}/count`} as="integer" unit="rewards" />
              </Field>
            ))}
          </Fields>
          <PagedTable
            list={list}
            caption="Rewards of the address, newest first"
            empty="It has neither mined nor staked a block."
            columns={[
              blockColumn('Block', 'height', chain),
              { head: 'Time', at: 'time', as: 'time' },
              { head: 'Transaction', at: 'txid', as: 'id', href: ({ txid }) => hrefOf('tx', { chain, txid }) },
              { head: 'Output', at: 'vout', as: 'integer' },
              { head: 'By', at: 'type', as: 'word' },
              { head: 'Amount', at: 'amount', as: 'amount', unit },
              { head: 'Mature', at: 'mature' },
            ]}
          />
        </>
      )}
    </Panel>
  );
}

function Conversions({ answer, chain }: ListProps<'/api/address/{addr}/conversions'>) {
  return (
    <Panel title="Conversions" answer={answer} isList frame="tall">
      {(list) => <ConversionTable list={list} chain={chain} empty="It has neither sent nor received a conversion." />}
    </Panel>
  );
}
