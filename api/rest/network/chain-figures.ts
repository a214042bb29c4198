/** Figures that a chain's daemon reports, in the form of answers. */
import type { LosslessNumber } from 'lossless-json';
import { coinsOrNull, ratio } from '../../http/values.ts';
import type { KnownFigures } from '../../state/daemon-figures.ts';

/** The daemon's latest figures, values derived from them, and the time at which the daemon reported them. */
export function figuresAnswer(known: KnownFigures, supply: bigint | null) {
  const { difficulty, hashRate, stakingSupply, saidAt } = known;
  const stakingParticipation = participation(stakingSupply, supply);
  const figuresAt = saidAt === null ? null : new Date(saidAt).toISOString();
  return { difficulty, hashRate, stakingSupply: coinsOrNull(stakingSupply), stakingParticipation, figuresAt };
}

/** At most 1: on a young chain the estimate may exceed the supply. */
function participation(staking: bigint | null, supply: bigint | null): LosslessNumber | null {
  if (staking === null || supply === null || supply <= 0n) return null;
  return ratio(staking > supply ? supply : staking, supply);
}
