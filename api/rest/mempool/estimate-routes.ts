/** /api/mempool/estimates: expected output of waiting conversions. */
import { chainParameter, queryParameter } from '../../http/parameters.ts';
import { liveRoute } from '../../http/route.ts';
import { coins, coinsOrNull } from '../../http/values.ts';
import { estimatesOf } from '../../mempool/estimates.ts';
import { writtenHash, writtenName } from '../../schema/json-schema.ts';
import { blockState } from '../../state/chain-state.ts';
import { findCurrency } from '../../state/find-currency.ts';
import { mempoolEstimates } from './schema.ts';
import { pageOf, statusAnswer, waitingPage } from './waiting-list.ts';

const estimates = liveRoute({
  path: '/api/mempool/estimates',
  summary:
    'Estimated output of unconfirmed and pending conversions, from the reserves and all that waits for the same basket',
  parameters: {
    chain: chainParameter,
    basket: queryParameter('Only conversions that this basket will execute: name or i-address', writtenName),
    txid: queryParameter('Only conversions of this transaction', writtenHash),
    ...waitingPage,
  },
  response: mempoolEstimates,
  weight: 5,
  tier: 'developer',
  cache: 'none',
  async handler({ params, api }) {
    const { chain } = params;
    const journal = api.mempools.known(chain);
    const { block, all } = await estimatesOf(api, journal);
    const currencies = await api.snapshot((read) => api.currencies.of(read));
    const basket =
      params.basket === undefined ? null : findCurrency(currencies, api, chain, params.basket, 'basket').currencyId;
    const txid = params.txid?.toLowerCase();
    const wanted = all.filter(
      ({ conversion }) =>
        (basket === null || conversion.basketId === basket) && (txid === undefined || conversion.txid === txid),
    );
    const page = pageOf(wanted, params, ({ conversion, output }) => ({
      txid: conversion.txid,
      vout: conversion.vout,
      status: conversion.status,
      type: conversion.kind,
      fromCurrencyId: conversion.fromCurrencyId,
      toCurrencyId: conversion.toCurrencyId,
      viaCurrencyId: conversion.viaCurrencyId,
      basketId: conversion.basketId,
      basketName: currencies.name(conversion.basketId),
      amountIn: coins(conversion.amountIn),
      estimatedOut: coinsOrNull(output),
    }));
    const headers = { 'X-Chain-State': blockState(api, chain, block) };
    return { headers, body: { ...statusAnswer(journal), isEstimate: true, block, ...page } };
  },
});

export const mempoolEstimateRoutes = [estimates];
