/** A ledger for tests: the settlement of the real one on a map. */
import { type ExchangeAnswer, type Ledger, type Shares, settle } from '../../../../api/access/ledger.ts';

/** `pause` is awaited before and after each exchange, so that a test decides how they interleave. */
export function createMemoryLedger(pause: () => Promise<unknown> = async () => undefined): Ledger {
  const rows = new Map<string, Shares>();
  return {
    async exchange(process, now, requests) {
      await pause();
      const answers = requests.map((request): ExchangeAnswer => {
        const { shares, answer } = settle(rows.get(request.bucket) ?? {}, process, now, request);
        rows.set(request.bucket, shares);
        return answer;
      });
      await pause();
      return answers;
    },
  };
}
