/** The bundled recording, derived. */
import { foldRecording } from '../../processors/recorded-fold.ts';
import type { FedBlock } from './facts-feed.ts';

/** From genesis to the tip, with every fact. */
export function recordedDerivation(): FedBlock[] {
  return foldRecording().derived.map(({ block: { height, hash }, facts }) => ({ height, hash, facts }));
}
