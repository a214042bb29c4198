/** The methods that can be answered without a recorded answer. */
import { bareSummary, createDefinitions, noRawBlock, readBareChain } from './bare-chain.ts';
import type { Derivations } from './derivation.ts';
import { createAddressDerivations } from './derive-addresses.ts';
import { createBlockDerivations } from './derive-blocks.ts';
import { createChainInfoDerivations, recordedSummary } from './derive-chain-info.ts';
import { createCurrencyDerivations } from './derive-currencies.ts';
import { createEstimateDerivations } from './derive-estimates.ts';
import { createIdentityDerivations } from './derive-identities.ts';
import { createSignatureDerivations } from './derive-signatures.ts';
import { createTransactionDerivations } from './derive-transactions.ts';
import { createRawBlocks } from './raw-blocks.ts';
import type { RecordedCalls } from './recorded-calls.ts';
import type { Recording } from './recording.ts';
import { createSpentAsOf } from './spent-outputs.ts';

export function createDerivations(recording: Recording, calls: RecordedCalls): Derivations {
  const spentAsOf = createSpentAsOf(recording.orphans);
  const bare = readBareChain(recording);
  if (bare) {
    return {
      ...createBlockDerivations(noRawBlock, spentAsOf),
      ...createChainInfoDerivations((method) => bareSummary(bare, method)),
      getcurrency: createDefinitions(recording),
      getrawmempool: () => '[]',
    };
  }
  const rawBlock = createRawBlocks(recording);
  const identities = createIdentityDerivations(recording);
  return {
    ...createBlockDerivations(rawBlock, spentAsOf),
    ...createTransactionDerivations(recording, rawBlock, spentAsOf),
    ...createChainInfoDerivations((method) => recordedSummary(calls, method)),
    ...identities,
    ...createSignatureDerivations(calls, identities.getidentity),
    ...createCurrencyDerivations(recording, calls),
    ...createAddressDerivations(recording),
    ...createEstimateDerivations(recording, calls),
  };
}
