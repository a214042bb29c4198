/** The bundled recording, derived. */
import { foldRecording } from '../../processors/recorded-fold.ts';
import type { FedBlock } from './facts-feed.ts';

/** Every fact from genesis to the tip. */
export function recordedDerivation(): FedBlock[] {
  return foldRecording().derived.map(({ block: { height, hash }, facts }) => ({ height, hash, facts }));
}
