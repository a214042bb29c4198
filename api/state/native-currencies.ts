/** Definitions of the chains' own coins. No transaction defines them, so the daemon is asked, and again after FRESH_MS. */
import type { Logger } from '../../infra/logger.ts';
import type { VerusdClient } from '../../infra/verusd/verusd-client.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { ApiError } from '../http/api-error.ts';

export interface NativeCurrencies {
  /** Returns the getcurrency object with exact numbers. @throws the daemon's error while no call has succeeded yet */
  definition(chain: ChainConfig): Promise<Readonly<Record<string, unknown>>>;
}

interface Kept {
  readonly definition: Readonly<Record<string, unknown>>;
  readonly readAt: number;
}

const FRESH_MS = 3_600_000;
const TIMEOUT_MS = 5_000;

export function createNativeCurrencies(daemons: ReadonlyMap<string, VerusdClient>, logger: Logger): NativeCurrencies {
  const kept = new Map<string, Kept>();

  async function ask(chain: ChainConfig): Promise<Readonly<Record<string, unknown>>> {
    const daemon = daemons.get(chain.name);
    if (!daemon) throw new ApiError('daemon_error', `no daemon of ${chain.name} is configured`);
    const answer = await daemon.call('getcurrency', [chain.rootCurrency], { timeoutMs: TIMEOUT_MS });
    if (typeof answer !== 'object' || answer === null) {
      throw new ApiError('daemon_error', `getcurrency of ${chain.rootCurrency} answered without an object`);
    }
    const definition = answer as Readonly<Record<string, unknown>>;
    kept.set(chain.name, { definition, readAt: Date.now() });
    return definition;
  }

  return {
    async definition(chain) {
      const known = kept.get(chain.name);
      if (known && Date.now() - known.readAt < FRESH_MS) return known.definition;
      const answer = ask(chain);
      if (!known) return answer;
      return answer.catch((err: unknown) => {
        logger.warn({ err, chain: chain.name }, 'getcurrency failed; its last answer is served');
        return known.definition;
      });
    },
  };
}
