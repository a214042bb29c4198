/** Kinds and statuses of reserve transfers, as the facts, the stores and the API name them. */

export const TRANSFER_KINDS = ['convert', 'via', 'preconvert', 'mint', 'burn', 'send'] as const;
export type TransferKind = (typeof TRANSFER_KINDS)[number];

export const TRANSFER_STATUSES = ['pending', 'exported', 'completed', 'refunded', 'unmatched'] as const;
export type TransferStatus = (typeof TRANSFER_STATUSES)[number];

/** Kinds that are conversions: a send converts nothing. */
export const CONVERSION_TYPES = [
  'convert',
  'via',
  'preconvert',
  'mint',
  'burn',
] as const satisfies readonly TransferKind[];
export type ConversionType = (typeof CONVERSION_TYPES)[number];

/** Statuses of a conversion as users see them. */
export const CONVERSION_STATUSES = ['pending', 'completed', 'refunded', 'unmatched'] as const;
export type ConversionStatus = (typeof CONVERSION_STATUSES)[number];

/** A conversion that an export gathered is still pending for its user: no import has executed it. */
export function conversionStatus(status: TransferStatus): ConversionStatus {
  return status === 'exported' ? 'pending' : status;
}

/** Condition for a trade, used by every sum of trades: preconversions, mints and burns are not trades. */
export const IS_TRADE_SQL = "status = 'completed' AND kind IN ('convert', 'via')";
