/** Conversions and prices as the stream sends them. */
import {
  type ConversionNews,
  hrefOf,
  Id,
  nameOf,
  news,
  type PriceNews,
  StreamedCoins,
  shownNumber,
  Text,
} from '../kit.ts';

export function NewsPanel() {
  const { conversions, prices } = news.value;
  return (
    <section class="panel" aria-label="As it comes">
      <header>
        <h2>As it comes</h2>
      </header>
      {conversions.length + prices.length === 0 && (
        <p class="empty">
          Conversions and prices appear here as the stream sends them. None has arrived since this page was opened.
        </p>
      )}
      <ul class="news">
        {conversions.map((event) => {
          const [from, to] = [nameIn(event.data.fromCurrencyId), nameIn(event.data.toCurrencyId)];
          return <Conversion key={event.cursor} event={event} from={from} to={to} />;
        })}
        {prices.map((event) => (
          <Price key={event.cursor} event={event} name={nameIn(event.data.currencyId)} />
        ))}
      </ul>
    </section>
  );
}

/** The panel reads the names, because a row that subscribed to its name would stay in memory after it was removed. */
const nameIn = (id: string | null) => (id === null ? null : nameOf(id).value);

interface ConversionProps {
  readonly event: ConversionNews;
  readonly from: string | null;
  readonly to: string | null;
}

function Conversion({ event: { chain, cursor, data }, from, to }: ConversionProps) {
  const { txid, vout, status, amountIn, fromCurrencyId, toCurrencyId } = data;
  return (
    <li data-event="conversion" data-cursor={cursor}>
      <span class={`status ${status}`}>{status}</span>{' '}
      <a href={hrefOf('conversion', { chain, txid, vout: String(vout) })}>conversion</a> of{' '}
      <StreamedCoins amount={amountIn} /> <CurrencyName id={fromCurrencyId} name={from} /> to{' '}
      <CurrencyName id={toCurrencyId} name={to} />
    </li>
  );
}

/** Shows the id until the service has sent the name. */
function CurrencyName({ id, name }: { readonly id: string | null; readonly name: string | null }) {
  if (id === null) return <>a currency that is not known here</>;
  return name === null ? <Id id={id} /> : <Text text={name} isName />;
}

function Price({ event: { type, cursor, data }, name }: { readonly event: PriceNews; readonly name: string | null }) {
  const { currencyId, usdPrice, provisional } = data;
  return (
    <li data-event={type} data-cursor={cursor}>
      <CurrencyName id={currencyId} name={name} />{' '}
      <data value={usdPrice}>{shownNumber(String(usdPrice), 'price')} USD</data>
      {provisional && <span class="badge warn">provisional</span>}
      {type === 'price_correction' && <span class="badge">corrected</span>}
    </li>
  );
}
