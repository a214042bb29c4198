/** Conversions and prices as the stream tells them. */
import { type ConversionNews, hrefOf, Id, news, type PriceNews, shownNumber } from '../kit.ts';

export function NewsPanel() {
  const { conversions, prices } = news.value;
  return (
    <section class="panel" aria-label="As it comes">
      <header>
        <h2>As it comes</h2>
      </header>
      {conversions.length + prices.length === 0 && (
        <p class="empty">
          Conversions and prices appear here as the stream tells them. None has come since this page was opened.
        </p>
      )}
      <ul class="news">
        {conversions.map((event) => (
          <Conversion key={event.cursor} event={event} />
        ))}
        {prices.map((event) => (
          <Price key={event.cursor} event={event} />
        ))}
      </ul>
    </section>
  );
}

function Conversion({ event: { chain, cursor, data } }: { readonly event: ConversionNews }) {
  const { txid, vout, status, amountIn } = data;
  return (
    <li data-event="conversion" data-cursor={cursor}>
      <span class={`status ${status}`}>{status}</span> conversion of{' '}
      <data value={amountIn}>{shownNumber(String(amountIn), 'amount')}</data> in{' '}
      <a href={hrefOf('conversion', { chain, txid, vout: String(vout) })}>
        <Id id={txid} />
      </a>
    </li>
  );
}

function Price({ event: { type, cursor, data } }: { readonly event: PriceNews }) {
  const { currencyId, usdPrice, provisional } = data;
  return (
    <li data-event={type} data-cursor={cursor}>
      <Id id={currencyId} /> <data value={usdPrice}>{shownNumber(String(usdPrice), 'price')} USD</data>
      {provisional && <span class="badge warn">provisional</span>}
      {type === 'price_correction' && <span class="badge">corrected</span>}
    </li>
  );
}
