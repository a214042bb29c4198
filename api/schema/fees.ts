/** One word for each fee; every member that is a fee says which of these it is. */

export const CONVERSION_FEE =
  'Conversion fee, in the from currency: 0.025 % of what goes into each leg, so twice for a via. Half of it stays in the basket.';

/** Volumes are sums in USD: which part of them is a second leg is not in them. */
export const VOLUME_FEES =
  'Conversion fees of the trades, as 0.025 % of their volume in USD: once also for a via, so that the fees of the rows add up to more.';

export const TRANSFER_FEE = 'Transfer fee: what the request pays for its export on top of the amount, in feeCurrency.';

export const NETWORK_FEE = 'Network fee: what the inputs hold more than the outputs, in native coin.';
