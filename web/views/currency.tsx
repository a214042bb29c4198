/** A currency: its definition in words, its supply, its price, and its reserves. */
import {
  type Answer,
  type AnswerOf,
  At,
  Currency,
  Field,
  Fields,
  hrefOf,
  JsonTree,
  Panel,
  Share,
  Table,
  useNames,
  Value,
  type ViewProps,
} from '../kit.ts';

type Definition = AnswerOf<'/api/currency/{nameOrId}'>;

const TYPES: Readonly<Record<Definition['type'], string>> = {
  native: 'The own coin of a chain.',
  token: 'A token.',
  basket: 'A basket: its supply is backed by reserves, and it converts between them and itself.',
  pbaas_chain: 'The coin of a chain that was launched from this one.',
  gateway: 'A gateway to another system.',
  mapped: 'A token that stands for a currency of another system.',
};

/** Option bits that matter to holders. */
const OPTIONS: readonly (readonly [bit: number, says: string])[] = [
  [0x2, 'issues identities'],
  [0x4, 'stakes by identities'],
  [0x8, 'pays referrals'],
  [0x10, 'requires a referral'],
  [0x40, 'is one token, whose holder controls the identity of its name'],
  [0x80, 'is a gateway'],
  [0x100, 'is a chain of its own'],
  [0x200, 'converts for its gateway'],
  [0x800, 'is an NFT'],
];

export function View({ parts: { chain }, answers: [answer] }: ViewProps<'currency'>) {
  const parts = answer.shown.value?.data.currencies;
  useNames({ id: answer.shown.value?.data.fullyQualifiedName });
  return (
    <>
      <Summary answer={answer} chain={chain} />
      {answer.shown.value?.data.launch && <Launch answer={answer} chain={chain} />}
      {Array.isArray(parts) && parts.length > 0 && <Reserves answer={answer} chain={chain} ids={parts.map(String)} />}
      <Panel title="Definition" answer={answer} frame="short">
        {() => (
          <details>
            <summary>All members, as the chain has them</summary>
            <JsonTree />
          </details>
        )}
      </Panel>
    </>
  );
}

interface PartProps {
  readonly answer: Answer<'/api/currency/{nameOrId}'>;
  readonly chain: string;
}

function Summary({ answer, chain }: PartProps) {
  return (
    <Panel title="What it is" answer={answer} frame="medium">
      {({ currencyId, type, options, systemId, definitionTxid, definitionHeight, chain: home }) => {
        const words = OPTIONS.filter(([bit]) => (Number(options) & bit) !== 0).map(([, says]) => says);
        return (
          <>
            <p class="lead" data-derived="words">
              {TYPES[type]}
              {words.length > 0 && ` It ${words.join(', ')}.`}
            </p>
            <Fields>
              <Field label="Name" at="fullyQualifiedName" as="name" />
              <Field label="Id" at="currencyId" as="id" href={hrefOf('identity', { chain: home, name: currencyId })} />
              <Field label="Kind" at="type" as="word" />
              <Field label="Chain" at="chain" as="text" href={hrefOf('chain', { chain: home })} />
              <Field label="Supply" at="supply" as="amount" why="it has no state on this chain" />
              <Field label="Price">
                <Value
                  at="price"
                  as="price"
                  unit="USD"
                  why="no basket prices it"
                  href={hrefOf('price', { id: currencyId })}
                />
              </Field>
              <Field label="Parent">
                <Currency chain={chain} name="parentName" id="parent" why="nothing" />
              </Field>
              <Field label="System" at="systemId" as="id" href={hrefOf('currency', { chain: home, id: systemId })} />
              <Field label="Defined in block">
                <Value
                  at="definitionHeight"
                  as="integer"
                  why="before the first block"
                  href={definitionHeight && hrefOf('block', { chain: home, block: definitionHeight })}
                />
              </Field>
              <Field label="Defined by">
                <Value
                  at="definitionTxid"
                  as="id"
                  why="before the first block"
                  href={definitionTxid && hrefOf('tx', { chain: home, txid: definitionTxid })}
                />
              </Field>
              <Field label="Starts at block" at="startBlock" as="integer" />
              <Field label="Fee of an identity" at="idRegistrationFees" as="amount" />
              <Field label="Options" at="options" as="integer" />
            </Fields>
          </>
        );
      }}
    </Panel>
  );
}

/** The state of the launch, and the preconversions for it. */
function Launch({ answer, chain }: PartProps) {
  return (
    <Panel title="Launch" answer={answer} frame="medium">
      {({ launch }) =>
        launch && (
          <>
            <Fields>
              <Field label="Status" at="/launch/status" as="word" />
              <Field label="Decided at block" at="/launch/startBlock" as="integer" />
              <Field label="Blocks until then" at="/launch/blocksToStart" as="integer" why="it is decided" />
            </Fields>
            {launch.preconversions.length > 0 && (
              <Table
                at="/launch/preconversions"
                rows={launch.preconversions}
                caption="What was preconverted"
                empty=""
                columns={[
                  { head: 'Currency', cell: () => <Currency chain={chain} name="currencyName" id="currencyId" /> },
                  { head: 'Preconverted', at: 'amount', as: 'amount', why: 'not known here' },
                  { head: 'At least', at: 'minimum', as: 'amount', why: 'none is asked for' },
                  { head: 'At most', at: 'maximum', as: 'amount', why: 'without a limit' },
                ]}
              />
            )}
          </>
        )
      }
    </Panel>
  );
}

/** The reserves of a basket by its definition. */
function Reserves({ answer, chain, ids }: PartProps & { readonly ids: readonly string[] }) {
  return (
    <Panel title="Made of" answer={answer} frame="medium">
      {() => (
        <div class="scroll">
          <table>
            <caption class="hidden">Reserves by the definition</caption>
            <thead>
              <tr>
                <th scope="col">Currency</th>
                <th scope="col" class="right">
                  Weight
                </th>
                <th scope="col" class="right">
                  First contribution
                </th>
                <th scope="col" class="right">
                  Least preconversion
                </th>
              </tr>
            </thead>
            <tbody>
              {ids.map((id, index) => (
                <At key={id} at="">
                  <tr data-item={`/currencies/${index}`}>
                    <td data-label="Currency">
                      <Currency chain={chain} name={`/currencyNames/${id}`} id={`/currencies/${index}`} />
                    </td>
                    <td data-label="Weight" class="right">
                      <Share at={`/weights/${index}`} />
                    </td>
                    <td data-label="First contribution" class="right">
                      <Value at={`/initialContributions/${index}`} as="amount" />
                    </td>
                    <td data-label="Least preconversion" class="right">
                      <Value at={`/minPreconversion/${index}`} as="amount" />
                    </td>
                  </tr>
                </At>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Panel>
  );
}
