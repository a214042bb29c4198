/** What the API asks of the pure core without importing it. */
import type { Domain } from '../api/api-context.ts';
import { nameToAddress, vdxfKey } from '../processors/names.ts';
import { confidence, priceStatus } from '../processors/pricing/confidence.ts';
import { explainStamp } from '../processors/pricing/explain-stamp.ts';
import type { StampInputs } from '../processors/pricing/stamp-inputs.ts';
import { SYSTEM_ADDRESSES } from '../processors/system-addresses.ts';

export const domain: Domain = {
  nameToAddress,
  vdxfKey,
  confidence,
  priceStatus,
  explainStamp: (inputs) => explainStamp(JSON.parse(inputs) as StampInputs),
  systemAddresses: [...SYSTEM_ADDRESSES],
};
