/** A ledger for tests: the real settlement on a map. */
import {
  type AllowanceLedger,
  type ExchangeAnswer,
  type ProcessLeases,
  settleLease,
} from '../../../../api/access/ledger.ts';

/** `pause` is awaited before and after each exchange, so that a test decides how they interleave. */
export function createMemoryLedger(pause: () => Promise<unknown> = async () => undefined): AllowanceLedger {
  const rows = new Map<string, ProcessLeases>();
  return {
    async exchange(process, now, requests) {
      await pause();
      const answers = requests.map((request): ExchangeAnswer => {
        const { shares, answer } = settleLease(rows.get(request.bucket) ?? {}, process, now, request);
        rows.set(request.bucket, shares);
        return answer;
      });
      await pause();
      return answers;
    },
  };
}
