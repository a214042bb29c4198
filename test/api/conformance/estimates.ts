/** Estimates of conversions, compared with those of the recorded daemon. */
import { describe, expect, it } from 'vitest';
import { parseExact } from '../../../domain/json/exact-json.ts';
import { answerOf, readCases } from '../../../recordings/player/recorded-calls.ts';
import type { TestClient } from '../client.ts';
import { RECORDING } from '../running-service.ts';
import { type LooseJson, sat } from '../truth.ts';

/** The daemon's estimates between currencies of live baskets. */
function recordedEstimates(): { readonly transfer: LooseJson; readonly said: LooseJson }[] {
  const found = [];
  for (const one of readCases(RECORDING)) {
    if (!/^estimateconversion\/(?!_fuzz|zero|failed-launch|preconvert|huge)/.test(one.name) || !('body' in one))
      continue;
    const answer = answerOf(one.body);
    const [transfer] = (parseExact(one.request) as LooseJson).params;
    if ('result' in answer && !Array.isArray(transfer))
      found.push({ transfer, said: parseExact(answer.result) as LooseJson });
  }
  return found;
}

export function estimatesConform(client: TestClient): void {
  describe('estimates of conversions', () => {
    it('are the daemon’s, to the satoshi', async () => {
      const recorded = recordedEstimates();
      expect(recorded.length).toBeGreaterThan(5);
      for (const { transfer, said } of recorded) {
        const { currency, convertto, via, amount } = transfer;
        const query = `from=${currency}&to=${convertto}&amount=${amount}`;
        const estimate = await client.json(`/api/market/estimate?${query}`);
        expect(estimate).toMatchObject({ fromId: said.inputcurrencyid, toId: said.outputcurrencyid });
        expect(estimate.via).toBe(via ?? null);
        expect(sat(estimate.amount)).toBe(sat(amount));
        expect(sat(estimate.netInput)).toBe(sat(said.netinputamount));
        expect(sat(estimate.estimatedOut)).toBe(sat(said.estimatedcurrencyout));
        expect(Number(estimate.rate)).toBeCloseTo(Number(said.estimatedcurrencyout) / Number(amount), 10);
        const { best, routes } = await client.json(`/api/market/best-conversion?${query}`);
        expect(best).toEqual(routes[0]);
        expect(sat(best.output)).toBe(sat(estimate.estimatedOut));
        expect([best.hops, best.via]).toEqual([1, null]);
      }
    });

    it.each([
      [400, 'invalid_parameter', 'estimate?from=VRSCTEST&to=PureTri'],
      [400, 'invalid_parameter', 'estimate?from=VRSCTEST&to=PureTri&amount=0'],
      [400, 'invalid_parameter', 'estimate?from=VRSCTEST&to=PureTri&amount=-1'],
      [400, 'invalid_parameter', 'estimate?from=VRSCTEST&to=PureTri&amount=1e3'],
      [400, 'invalid_parameter', 'estimate?from=VRSCTEST&to=PureTri&amount=0.000000001'],
      [400, 'not_convertible', 'estimate?from=VRSCTEST&to=VRSCTEST&amount=1'],
      [400, 'not_convertible', 'estimate?from=VRSCTEST&to=tok&amount=1'],
      [400, 'not_convertible', 'estimate?from=VRSCTEST&to=usdx&via=xeth&amount=1'],
      [404, 'not_found', 'estimate?from=VRSCTEST&to=nosuch&amount=1'],
      [404, 'not_found', 'best-conversion?from=VRSCTEST&to=tok&amount=1'],
      // The recorded node answers that it has no recording of this call. No daemon answers that, so it plays one that fails.
      [502, 'daemon_error', 'estimate?from=VRSCTEST&to=PureTri&amount=7.7'],
      [502, 'daemon_error', 'best-conversion?from=VRSCTEST&to=PureTri&amount=7.7'],
    ])('%i %s for %s', async (status, code, path) => {
      const answer = await client.raw(`/api/market/${path}`);
      expect([answer.status, ((await answer.json()) as LooseJson).code]).toEqual([status, code]);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
    });
  });
}
