/** /api/mempool: unconfirmed transactions and conversions, from memory. */
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { liveRoute } from '../../http/route.ts';
import type { WaitingTransaction } from '../../mempool/journal.ts';
import { newestOf } from '../../mempool/newest.ts';
import { conversionAnswer, conversionPart, feeRate, transactionAnswer } from '../../mempool/print-transaction.ts';
import { writtenName } from '../../schema/json-schema.ts';
import { resolveAddress } from '../../state/addresses.ts';
import { findCurrency } from '../../state/find-currency.ts';
import { mempoolConversions, mempoolList } from './schema.ts';
import { pageOf, stateHeaders, statusAnswer, waitingPage } from './waiting-list.ts';

const list = liveRoute({
  path: '/api/mempool/',
  summary: 'Transactions that wait for a block, newest first',
  parameters: { chain: chainParameter, ...waitingPage },
  response: mempoolList,
  weight: 1,
  cache: 'none',
  async handler({ params, api }) {
    const journal = api.mempools.known(params.chain);
    const page = pageOf(newestOf(journal).transactions, params, transactionAnswer);
    return { headers: stateHeaders(api, journal), body: { ...statusAnswer(journal), ...page } };
  },
});

const conversions = liveRoute({
  path: '/api/mempool/conversions',
  summary: 'Conversions that wait for a block, newest first',
  parameters: {
    chain: chainParameter,
    currency: queryParameter('Only from, to or via this currency: name or i-address', writtenName),
    basket: queryParameter('Only conversions that this basket will execute: name or i-address', writtenName),
    address: queryParameter('Only from or to this address: R-address, i-address or name@', writtenName),
    ...waitingPage,
  },
  response: mempoolConversions,
  weight: 1,
  cache: 'none',
  async handler({ params, api }) {
    const { chain } = params;
    const journal = api.mempools.known(chain);
    const currencies = await api.snapshot((read) => api.currencies.of(read));
    const idOf = (text: string | undefined, parameter: string) =>
      text === undefined ? null : findCurrency(currencies, api, chain, text, parameter).currencyId;
    const [currency, basket] = [idOf(params.currency, 'currency'), idOf(params.basket, 'basket')];
    const address = params.address === undefined ? null : resolveAddress(api.chain(chain), params.address, 'address');
    const wanted = newestOf(journal).conversions.filter(({ transfer }) => {
      const part = conversionPart(transfer);
      return (
        (currency === null || part.currencies?.includes(currency)) &&
        (basket === null || part.basket === basket) &&
        (address === null || part.addresses?.includes(address))
      );
    });
    const page = pageOf(wanted, params, ({ waiting, transfer }) => {
      const { vout, fromCurrencyId, toCurrencyId, viaCurrencyId, basketId, ...rest } = conversionAnswer(transfer);
      return {
        ...keyOf(waiting, vout, chain),
        fromCurrencyId,
        fromCurrencyName: currencies.name(fromCurrencyId),
        toCurrencyId,
        toCurrencyName: currencies.name(toCurrencyId),
        viaCurrencyId,
        viaCurrencyName: currencies.name(viaCurrencyId),
        basketId,
        basketName: currencies.name(basketId),
        ...rest,
        txFeeRate: feeRate(waiting.transaction),
      };
    });
    return { headers: stateHeaders(api, journal), body: { ...statusAnswer(journal), ...page } };
  },
});

function keyOf({ transaction: { txid }, seenAt }: WaitingTransaction, vout: number, chain: string) {
  return { txid, vout, chain, seenAt, status: 'unconfirmed' as const };
}

export const mempoolRoutes = [list, conversions];
