/** Parses arguments that name a chain or a block. */
import type { ChainConfig, Config } from '../schemas/config.ts';
import { UsageError } from '../schemas/errors.ts';

const HEIGHT = /^\d{1,9}$/;

/** @throws UsageError that lists the configured chains */
export function configuredChain({ chains }: Pick<Config, 'chains'>, name: string): ChainConfig {
  const chain = chains.find((one) => one.name === name);
  if (chain) return chain;
  throw new UsageError(
    `the chain "${name}" is not configured; allowed are ${chains.map((one) => one.name).join(', ')}`,
  );
}

/** Splits a list at its commas; a repeated name counts once. */
export const namesIn = (list: string): string[] => [...new Set(list.split(','))];

/** Parses a height, or a number within a block. @throws UsageError */
export function wholeNumber(text: string, what: string): number {
  if (HEIGHT.test(text)) return Number(text);
  throw new UsageError(`"${text}" is not a ${what}; give a whole number of up to 9 digits`);
}
