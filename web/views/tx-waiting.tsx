/** The effects of a waiting transaction once a block contains it: the conversions that it requests, the identities that it changes. */
import { type Answer, type AnswerOf, At, hrefOf, JsonTree, nameOf, Panel, Party, Table, Text, Value } from '../kit.ts';

interface WhatWaitsProps {
  readonly answer: Answer<'/api/tx/{txid}'>;
  readonly chain: string;
}

type Unconfirmed = NonNullable<AnswerOf<'/api/tx/{txid}'>['unconfirmed']>;

export function WhatWaits({ answer, chain }: WhatWaitsProps) {
  return (
    <Panel title="What it will do" answer={answer} frame="short">
      {({ txid, unconfirmed }) =>
        unconfirmed && (
          <At at="/unconfirmed">
            {unconfirmed.conversions.length + unconfirmed.identities.length === 0 && (
              <p class="empty">It moves coins, and nothing else.</p>
            )}
            {unconfirmed.conversions.length > 0 && (
              <Conversions rows={unconfirmed.conversions} chain={chain} txid={txid} />
            )}
            {unconfirmed.identities.length > 0 && <Identities rows={unconfirmed.identities} chain={chain} />}
          </At>
        )
      }
    </Panel>
  );
}

interface ConversionsProps {
  readonly rows: Unconfirmed['conversions'];
  readonly chain: string;
  readonly txid: string;
}

function Conversions({ rows, chain, txid }: ConversionsProps) {
  return (
    <Table
      at="conversions"
      rows={rows}
      caption="Conversions that it asks for"
      empty="It converts nothing."
      columns={[
        {
          head: 'Conversion',
          cell: ({ vout }) => <Value at="vout" as="integer" href={hrefOf('conversion', { chain, txid, vout })} />,
        },
        { head: 'Type', at: 'type', as: 'word' },
        {
          head: 'In',
          isNumber: true,
          cell: ({ fromCurrencyId }) => (
            <>
              <Value at="amountIn" as="amount" /> <CurrencyById at="fromCurrencyId" id={fromCurrencyId} chain={chain} />
            </>
          ),
        },
        {
          head: 'To',
          cell: ({ toCurrencyId }) => <CurrencyById at="toCurrencyId" id={toCurrencyId} chain={chain} />,
        },
        { head: 'Through', cell: ({ basketId }) => <CurrencyById at="basketId" id={basketId} chain={chain} /> },
        {
          head: 'Fee',
          isNumber: true,
          cell: ({ fromCurrencyId }) => (
            <>
              <Value at="fee" as="amount" /> <CurrencyById at="fromCurrencyId" id={fromCurrencyId} chain={chain} />
            </>
          ),
        },
        { head: 'Paid to', cell: () => <Party at="destination" chain={chain} why="the request names none" /> },
      ]}
    />
  );
}

interface CurrencyByIdProps {
  readonly at: string;
  readonly id: string | null;
  readonly chain: string;
}

/** Shows a currency by the name that the service knows, for answers that contain only its id. */
export function CurrencyById({ at, id, chain }: CurrencyByIdProps) {
  const name = id === null ? null : nameOf(id).value;
  return (
    <Value at={at} as="id" why="not known here" href={id && hrefOf('currency', { chain, id })}>
      {name === null ? undefined : <Text text={name} isName />}
    </Value>
  );
}

function Identities({ rows, chain }: { readonly rows: Unconfirmed['identities']; readonly chain: string }) {
  return (
    <Table
      at="identities"
      rows={rows}
      caption="Identities that it registers or changes"
      empty="It changes no identity."
      columns={[
        {
          head: 'Identity',
          at: 'fullyQualifiedName',
          as: 'name',
          href: ({ identityAddress }) => hrefOf('identity', { chain, name: identityAddress }),
        },
        { head: 'Address', at: 'identityAddress', as: 'id' },
        { head: 'Kind', at: 'kind', as: 'word' },
        { head: 'Flags', at: 'flags', as: 'integer' },
        {
          head: 'Changes',
          cell: ({ changes }) =>
            changes === null ? (
              <Value at="changes" why="too long to show here" />
            ) : (
              <details>
                <summary>open</summary>
                <JsonTree at="changes" />
              </details>
            ),
        },
      ]}
    />
  );
}
