/** Runs one attack for a while, in its own process, so that the cost of attacking does not slow the bystander. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createRandom } from '../../recordings/player/faults.ts';
import { ATTACKS } from './attacks/attacks.ts';

export interface AttackOrder {
  readonly name: string;
  readonly port: number;
  readonly chain: string;
  readonly seed: number;
  readonly seconds: number;
}

/** Counts by outcome, such as `429` or `closed`. */
export type Outcomes = Readonly<Record<string, number>>;

const NETWORKS = Array.from({ length: 16 }, (_, index) => `127.66.0.${index + 1}`);

const { name, port, chain, seed, seconds }: AttackOrder = JSON.parse(process.argv[2] ?? '');
const attack = ATTACKS.find((candidate) => candidate.name === name);
if (!attack) throw new RangeError(`no attack ${name}; there are ${ATTACKS.map((known) => known.name).join(', ')}`);

const outcomes: Record<string, number> = {};
const end = new AbortController();
const running = attack.run({
  port,
  chain,
  networks: NETWORKS,
  random: createRandom(seed),
  signal: end.signal,
  tally(outcome) {
    outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
  },
});
await Promise.race([running, sleep(seconds * 1000)]);
end.abort();
await running;
process.send?.(outcomes satisfies Outcomes, () => process.exit());
