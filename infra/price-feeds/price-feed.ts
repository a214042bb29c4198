/** External USD prices in the format of CoinGecko's simple/price: {"dai":{"usd":0.9998}}. */
import { Agent, interceptors, request } from 'undici';
import { messageOf, RetryableError } from '../../schemas/errors.ts';

export interface PriceFeed {
  /** Host of the feed, shown with its prices. */
  readonly source: string;
  /** Returns the USD price of each id that the feed knows. @throws PriceFeedFailed, or the reason of an aborted signal */
  prices(ids: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, number>>;
  close(): Promise<void>;
}

export class PriceFeedFailed extends RetryableError {
  constructor(source: string, reason: string, cause?: unknown) {
    super('price_feed_failed', `Price feed ${source}: ${reason}`, { cause });
  }
}

export interface PriceFeedOptions {
  readonly timeoutMs?: number;
  readonly retries?: number;
}

const TIMEOUT_MS = 5000;
const RETRIES = 2;
const RETRY_MS = 500;
const LARGEST_ANSWER = 1 << 20;
/** Prices outside these bounds are errors of the feed: they would be rounded to zero or have no plain decimal notation. */
const LEAST_PRICE = 1e-18;
const LARGEST_PRICE = 1e18;

/** `url` may contain a key as a parameter; the ids and the currency are added. */
export function createPriceFeed(url: string, options: PriceFeedOptions = {}): PriceFeed {
  const { timeoutMs = TIMEOUT_MS, retries = RETRIES } = options;
  const source = new URL(url).host;
  const dispatcher = new Agent({ maxResponseSize: LARGEST_ANSWER, connectTimeout: timeoutMs }).compose(
    interceptors.retry({ maxRetries: retries, minTimeout: RETRY_MS, maxTimeout: timeoutMs }),
  );

  return {
    source,
    async prices(ids, signal) {
      const asked = new URL(url);
      asked.searchParams.set('ids', ids.join(','));
      asked.searchParams.set('vs_currencies', 'usd');
      // Limits all attempts together, so that a feed that sends byte by byte delays nothing.
      const either = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs * (retries + 1))]);
      const limits = { headersTimeout: timeoutMs, bodyTimeout: timeoutMs, signal: either };
      try {
        const { statusCode, body } = await request(asked, { dispatcher, ...limits });
        if (statusCode !== 200) {
          await body.dump();
          throw new PriceFeedFailed(source, `answered with status ${statusCode}`);
        }
        return readPrices(await body.json(), ids, source);
      } catch (error) {
        signal.throwIfAborted();
        if (error instanceof PriceFeedFailed) throw error;
        throw new PriceFeedFailed(source, messageOf(error), error);
      }
    },
    close: () => dispatcher.destroy(),
  };
}

/** Omits ids that the feed does not know. Rejects the whole answer if any price is not a number within the bounds. */
function readPrices(answer: unknown, ids: readonly string[], source: string): Map<string, number> {
  const prices = new Map<string, number>();
  if (typeof answer !== 'object' || answer === null) throw new PriceFeedFailed(source, 'the answer is not an object');
  for (const id of ids) {
    if (!Object.hasOwn(answer, id)) continue;
    const usd: unknown = (answer as Record<string, { usd?: unknown } | null>)[id]?.usd;
    if (usd === undefined || usd === null) continue;
    if (typeof usd !== 'number' || !(usd >= LEAST_PRICE && usd <= LARGEST_PRICE)) {
      throw new PriceFeedFailed(source, `the price of ${id} is ${JSON.stringify(usd)}`);
    }
    prices.set(id, usd);
  }
  return prices;
}
