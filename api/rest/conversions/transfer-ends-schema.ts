/** Where a transfer came from, who executed it, and where its payout went on to. */
import { nullableHash, nullableInteger, nullableString } from '../../schema/json-schema.ts';

export const transferEnds = {
  exportHeight: {
    ...nullableInteger,
    description: 'Of the chain of the request: chain, or sourceChain of what came from there; null before the export',
  },
  exportTime: { ...nullableInteger, description: 'Seconds since the epoch, as the block at exportHeight says' },
  importTxid: nullableHash,
  importChain: { ...nullableString, description: 'Chain that executed it' },
  importHeight: { ...nullableInteger, description: 'Of importChain' },
  importTime: { ...nullableInteger, description: 'Seconds since the epoch, as the importing block says' },
  sourceSystemId: { ...nullableString, description: 'Other system that it came from; null when it was asked for here' },
  sourceChain: { ...nullableString, description: 'Its name, where the service indexes it too' },
  exportTo: { ...nullableString, description: 'Next system that it, or its payout, is sent to' },
  exportToName: nullableString,
  nextLegTxid: { ...nullableHash, description: 'On importChain: the transfer as which the payout travels on' },
  nextLegVout: nullableInteger,
  latencyBlocks: {
    ...nullableInteger,
    description: 'From the request to the import; null while pending and where they stand on two chains',
  },
  latencySeconds: { ...nullableInteger, description: 'The same by block times; null while either end is unknown' },
  reason: {
    ...nullableString,
    description: 'Why the status is unmatched; no_delivery where one that was found unmatched counts as refunded',
  },
} as const;
