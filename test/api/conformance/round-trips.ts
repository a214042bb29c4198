/** Round trips to Postgres per answer: every request pays for an increase here. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RunningApi } from '../../../api/server.ts';
import { parseExact } from '../../../domain/json/exact-json.ts';
import { createClient } from '../client.ts';
import { type ReaderStatements, recordReaderStatements } from '../reader-statements.ts';
import { ALICE, NATIVE, type RunningService, USDX } from '../running-service.ts';
import { truth } from '../truth.ts';

const MINER = 'RJvt6CZAzWJEgYd4juBYJzqtmtzAn23c2V';
const CONVERSION: string = truth('conversions.json')[0].txid;

/** Round trips of a request in a state that others have seen: the totals of lists and the directory of currencies are cached. */
const TRIPS: readonly (readonly [path: string, trips: number])[] = [
  ['/api/blocks/500', 1],
  ['/api/blocks/', 1],
  ['/api/blocks/?page=7', 1],
  ['/api/stakes/', 2],
  [`/api/tx/${CONVERSION}`, 2],
  [`/api/oracle/conversions/${CONVERSION}`, 1],
  ['/api/conversions/', 1],
  ['/api/conversions/?status=completed', 1],
  [`/api/identity/${ALICE}`, 1],
  ['/api/identity/alice@', 1],
  ['/api/identity/alice@?height=600', 1],
  ['/api/identity/alice@/multimap', 1],
  ['/api/identity/alice@/multimap?mode=aggregate', 2],
  ['/api/identity/alice@/changes', 2],
  ['/api/identity/', 1],
  [`/api/address/${MINER}`, 1],
  [`/api/address/${MINER}/balance`, 2],
  [`/api/address/${MINER}/rewards`, 1],
  [`/api/address/${MINER}/conversions`, 1],
  [`/api/currency/${USDX}`, 1],
  [`/api/currency/${NATIVE}`, 2],
  ['/api/bridge/recent', 2],
  ['/api/blocks/500/raw', 1],
];

export function roundTripsConform(service: () => RunningService): void {
  describe('round trips to Postgres', () => {
    let statements: ReaderStatements;
    /** An API that caches no answers. */
    let api: RunningApi;
    const client = createClient(() => `http://127.0.0.1:${api.port}`);
    beforeAll(async () => {
      api = await service().startAnother({ keptBytes: 0 });
      statements = recordReaderStatements();
    });
    afterAll(async () => {
      statements.stop();
      await api.close();
    });

    it.each(TRIPS)('%s: %i', async (path, trips) => {
      await client.json(path);
      statements.take();
      await client.json(path);
      expect(statements.take().map(({ text }) => text)).toHaveLength(trips);
    });

    it('simultaneous requests share statements, and are answered as if alone', async () => {
      const heights = Array.from({ length: 40 }, (_, index) => `/api/blocks/${index * 20 + 1}`);
      const paths = [...TRIPS.map(([path]) => path), ...heights, '/api/blocks/9999999', '/api/identity/nobody@'];
      const answerOf = async (path: string) => {
        const response = await client.raw(path);
        const { requestId, instance, ...body } = parseExact(await response.text()) as Record<string, unknown>;
        return { path, status: response.status, body };
      };
      const alone = [];
      for (const path of paths) alone.push(await answerOf(path));
      statements.take();
      expect(await Promise.all(paths.map(answerOf))).toEqual(alone);
      expect(statements.take().filter(({ text }) => text.includes('FROM blocks b WHERE')).length).toBeLessThan(10);
    });

    it('a repeated request in the same state reads only the version of the state', async () => {
      const { url } = service();
      const repeating = createClient(() => url);
      const paths = TRIPS.map(([path]) => path).filter((path) => !path.endsWith('/raw')); // the daemon is asked each time
      for (const path of paths) await repeating.json(path);
      statements.take();
      for (const path of paths) await repeating.json(path);
      const asked = statements.take().map(({ text }) => text);
      expect(asked).toHaveLength(paths.length);
      expect(asked.filter((text) => !text.endsWith('AS version'))).toEqual([]);
    });
  });
}
