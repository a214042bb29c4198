/** Descriptions of the fees: every member of an answer that is a fee uses one of them. */

export const CONVERSION_FEE =
  'Conversion fee, in the from currency: 0.025 % of what goes into each leg, so twice for a via. Half of it stays in the basket.';

/** Volumes are sums in USD, which do not show the part of second legs. */
export const VOLUME_FEES =
  'Conversion fees of the trades: 0.025 % of their volume in USD, charged only once for a via, so that the fees of the rows add up to more.';

export const TRANSFER_FEE = 'Transfer fee: what the request pays for its export on top of the amount, in feeCurrency.';

export const NETWORK_FEE = 'Network fee: inputs minus outputs, in native coin.';
