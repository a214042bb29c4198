/** Figures of a chain that its daemon says, as answers show them. */
import type { LosslessNumber } from 'lossless-json';
import { coinsOrNull, ratio } from '../../http/values.ts';
import type { KnownFigures } from '../../state/daemon-figures.ts';

/** The daemon's latest figures for its chain, those derived from them, and when the daemon gave them. */
export function figuresAnswer(known: KnownFigures, supply: bigint | null) {
  const { difficulty, hashRate, stakingSupply, saidAt } = known;
  const stakingParticipation = participation(stakingSupply, supply);
  const figuresAt = saidAt === null ? null : new Date(saidAt).toISOString();
  return { difficulty, hashRate, stakingSupply: coinsOrNull(stakingSupply), stakingParticipation, figuresAt };
}

/** At most 1: the estimate of a young chain may exceed what there is. */
function participation(staking: bigint | null, supply: bigint | null): LosslessNumber | null {
  if (staking === null || supply === null || supply <= 0n) return null;
  return ratio(staking > supply ? supply : staking, supply);
}
