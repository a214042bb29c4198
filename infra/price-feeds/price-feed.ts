/** External USD prices in the form of CoinGecko's simple/price: {"dai":{"usd":0.9998}}. */
import { Agent, interceptors, request } from 'undici';
import { messageOf, RetryableError } from '../../schemas/errors.ts';

export interface PriceFeed {
  /** Host, shown with its prices. */
  readonly source: string;
  /** USD price of each id that it knows. @throws PriceFeedFailed */
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
/** Outside of them a price is the feed's fault: it would be rounded to nothing, or has no plain notation. */
const LEAST_PRICE = 1e-18;
const LARGEST_PRICE = 1e18;

/** `url` may carry a key of its own as a parameter; ids and the currency are added. */
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
      // Over all tries: a feed that trickles holds nothing up.
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

/** An id that it does not know is left out; one that it prices with no number between the bounds is a lie about all. */
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
