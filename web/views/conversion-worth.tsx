/** The USD value of a conversion, the rule that determined it, and how certain it is. */
import { type AnswerOf, Field, Fields, Given, hrefOf, Paid, Status, shownNumber, Text, Value } from '../kit.ts';

export type Valuation = AnswerOf<'/api/oracle/conversions/{txid}'>['data'][number];

const RULES: Readonly<Record<Valuation['rule'], string>> = {
  stable_in: 'A stable currency was given: its amount is the value.',
  stable_out: 'A stable currency was paid: its amount is the value.',
  to_basket_from: 'A basket was bought: the value is that of the given amount.',
  to_side: 'The value is that of the paid amount.',
  unpriced: 'It has no value in USD.',
};

export function Worth({ valuation, chain }: { readonly valuation: Valuation; readonly chain: string }) {
  const { rule, diverged, provisional, regime, reason, importChain, priceHeight } = valuation;
  const { pricedCurrencyId, priceBasket } = valuation;
  const executedOn = importChain ?? chain;
  return (
    <>
      <p class="worth">
        <strong>
          <Value at="usdValue" as="usd" unit="USD" why={whyUnpriced(reason)} />
        </strong>
        {provisional && <Flag word="provisional" says="A slower chain may still change the price." />}
        {diverged && <Flag word="diverged" says="The given and the paid amount differ in value." />}
        {regime === 'backfill' && <Flag word="backfill" says="From before live prices: computed afterwards." />}
        {reason !== null && <Flag word={reason.replaceAll('_', ' ')} says={whyUnpriced(reason)} />}
      </p>
      <Fields>
        <Field label="Status">
          <Status is={valuation.status} />
        </Field>
        <Field label="Given">
          <Given chain={chain} />
        </Field>
        <Field label="Given, in USD" at="fromUsd" as="usd" unit="USD" why="no price at its height" />
        <Field label="Paid">
          <Paid chain={executedOn} />
        </Field>
        <Field label="Paid, in USD" at="toUsd" as="usd" unit="USD" why="no price at its height" />
        <Field label="Against the middle price" help="What was paid against what was given, both in USD at that height">
          <AgainstMid valuation={valuation} />
        </Field>
        <Field label="Rule" help={RULES[rule]} at="rule" as="word" />
        <Field label="Priced by">
          <Named at="pricedCurrencyId" id={pricedCurrencyId} valuation={valuation} chain={executedOn} />{' '}
          <Value at="pricedCurrencyUsd" as="price" unit="USD" why="no currency was priced" />
        </Field>
        <Field label="Deepest basket">
          <Named at="priceBasket" id={priceBasket} valuation={valuation} chain={executedOn} />
        </Field>
        <Field label="Prices of block">
          <Value
            at="priceHeight"
            as="integer"
            why="not priced"
            href={priceHeight && hrefOf('block', { chain: executedOn, block: priceHeight })}
          />
        </Field>
        <Field label="Regime" at="regime" as="word" why="it has no stamp" />
        <Field label="Version of the rules" at="regimeVersion" as="integer" why="it has no stamp" />
        <Field label="Provisional" at="provisional" />
        <Field label="Diverged" at="diverged" />
        <Field label="Reason" at="reason" as="word" why="nothing special" />
      </Fields>
      <p class="note">{RULES[rule]}</p>
    </>
  );
}

interface NamedProps {
  readonly at: string;
  readonly id: string | null;
  readonly valuation: Valuation;
  readonly chain: string;
}

/** Shows the name that the same answer has for the currency; the id is in the title. */
function Named({ at, id, valuation, chain }: NamedProps) {
  if (id === null) return <Value at={at} why="none was needed" />;
  const name = nameIn(valuation, id);
  return (
    <Value at={at} as="id" href={hrefOf('currency', { chain, id })}>
      {name === null ? undefined : <Text text={name} isName />}
    </Value>
  );
}

function nameIn({ steps, ...sides }: Valuation, id: string): string | null {
  if (id === sides.fromCurrencyId) return sides.fromCurrencyName;
  if (id === sides.toCurrencyId) return sides.toCurrencyName;
  return steps?.find(({ basketId }) => basketId === id)?.basketName ?? null;
}

/** Compares both sides at the prices of the same height: the difference is fees and slippage. */
function AgainstMid({ valuation: { fromUsd, toUsd, reason } }: { readonly valuation: Valuation }) {
  if (fromUsd === null || toUsd === null || Number(fromUsd) === 0 || reason === 'mirrored') {
    return <span class="none">– only one side has a price</span>;
  }
  const percent = (Number(toUsd) / Number(fromUsd) - 1) * 100;
  return (
    <span data-derived="against-mid" class="number">
      {percent > 0 && '+'}
      {shownNumber(percent.toFixed(8), 'usd')} %
    </span>
  );
}

const REASONS: Readonly<Record<string, string>> = {
  pending: 'it was not executed yet',
  refunded: 'the given amount was returned',
  unmatched: 'its payout could not be found',
  no_delivery: 'nothing was delivered for it',
  burn: 'a burn pays out nothing',
  mint: 'a mint costs nothing',
  basket_to_basket: 'a basket was given for a basket',
  no_price: 'neither side had a price at its height',
  out_of_bounds: 'its value was outside the allowed bounds',
  not_priced_yet: 'prices have not reached its height yet',
  mirrored: 'one side shows the value of the other',
};

function whyUnpriced(reason: string | null): string {
  return (reason === null ? undefined : REASONS[reason]) ?? 'it has no price';
}

/** A badge whose meaning is in its title, and in hidden text for screen readers. */
function Flag({ word, says }: { readonly word: string; readonly says: string }) {
  return (
    <span class="badge warn" title={says}>
      {word}
      <span class="hidden">: {says}</span>
    </span>
  );
}
