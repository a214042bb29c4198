/** Schema of a transfer's ends: its origin, the chain that executed it, and the next leg of its payout. */
import { nullableHash, nullableInteger, nullableString } from '../../schema/json-schema.ts';

export const transferEnds = {
  exportHeight: {
    ...nullableInteger,
    description:
      'Height on the chain of the request: chain, or sourceChain if the transfer came from another chain; null before the export',
  },
  exportTime: { ...nullableInteger, description: 'Time of the block at exportHeight, seconds since the epoch' },
  importTxid: nullableHash,
  importChain: { ...nullableString, description: 'Chain that executed it' },
  importHeight: { ...nullableInteger, description: 'Height on importChain' },
  importTime: { ...nullableInteger, description: 'Time of the importing block, seconds since the epoch' },
  sourceSystemId: { ...nullableString, description: 'Other system that it came from; null if it was requested here' },
  sourceChain: { ...nullableString, description: 'Name of that system if the service indexes it too' },
  exportTo: { ...nullableString, description: 'Next system to which the transfer or its payout is sent' },
  exportToName: nullableString,
  nextLegTxid: { ...nullableHash, description: 'Transfer on importChain that carries the payout on' },
  nextLegVout: nullableInteger,
  latencyBlocks: {
    ...nullableInteger,
    description: 'From the request to the import; null while pending, and if they are on two chains',
  },
  latencySeconds: { ...nullableInteger, description: 'The same by block times; null while either end is unknown' },
  reason: {
    ...nullableString,
    description: 'Why the status is unmatched; no_delivery if an unmatched transfer counts as refunded',
  },
} as const;
