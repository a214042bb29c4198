/** What is left of gross flows: received minus sent. */
import type { ActivityFact, CurrencyAmounts } from '../../schemas/facts.ts';

/** By currency, without those that came to nothing. */
export function netAmounts(flows: ActivityFact['currencies']): CurrencyAmounts {
  const net: Record<string, bigint> = {};
  for (const currencyId in flows) {
    const flow = flows[currencyId];
    if (flow && flow.received !== flow.sent) net[currencyId] = flow.received - flow.sent;
  }
  return net;
}
