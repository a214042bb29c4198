/** Stamps history again while the service runs: the command, the golden numbers of the other regime, the swap and the swap back. */
import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../../commands/parse-command.ts';
import { runStoreCommand } from '../../../commands/store-commands.ts';
import type { Config } from '../../../schemas/config.ts';
import { collectedOutput } from '../../support/commands/collected-output.ts';
import { readJsonOutput } from '../../support/commands/command-output.ts';
import { isNearOrNull } from '../../support/processors/pricing/near.ts';
import { goldenStamps } from '../../support/processors/pricing/recorded-pricing.ts';
import type { TestClient } from '../client.ts';
import type { RunningService } from '../running-service.ts';
import type { LooseJson } from '../truth.ts';

const NEVER = new AbortController().signal;

export function reprocessConforms(client: TestClient, service: () => RunningService): void {
  const run = async (
    args: readonly string[],
    { signal = NEVER, ...changes }: { readonly signal?: AbortSignal } & Partial<Config> = {},
  ): Promise<{ code: number; said: string }> => {
    const { output, lines } = collectedOutput();
    const { config, ...context } = service().context;
    const given = { ...context, config: { ...config, ...changes }, signal };
    const code = await runStoreCommand(given, parseCommand(['reprocess', ...args]), output);
    return { code, said: lines.join('\n') };
  };
  const golden = goldenStamps().rows.filter(({ scenario }) => scenario === 'backfill');
  const txids = [...new Set(golden.filter(({ status }) => status !== 'pending').map(({ txid }) => txid))];
  const stamped = async (): Promise<Map<string, LooseJson>> => {
    const rows = new Map<string, LooseJson>();
    for (const txid of txids) {
      const { data } = await client.json(`/api/oracle/conversions/${txid}?explain=true`);
      for (const row of data) rows.set(`${row.txid}:${row.vout}`, row);
    }
    return rows;
  };
  const etag = async () => (await client.raw('/api/oracle/prices')).headers.get('etag');
  /** The service checks a few times a second which generation is served. */
  const changedEtag = async (before: string | null): Promise<string | null> => {
    for (let tries = 0; tries < 300; tries++) {
      const now = await etag();
      if (now !== before) return now;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    throw new Error('the ETag did not change in 30 seconds');
  };

  describe('reprocess', () => {
    let served: Map<string, LooseJson>;
    let servedEtag: string | null;

    it('has nothing to swap before a run', async () => {
      [served, servedEtag] = [await stamped(), await etag()];
      await expect(run(['--swap'])).rejects.toMatchObject({ code: 'nothing_to_swap' });
      expect(await run([])).toEqual({ code: 0, said: '1  served      live fold' });
    });

    it('compares in a dry run, stops when it is asked to, and changes nothing', async () => {
      const stop = new AbortController();
      stop.abort();
      const stopped = await run(['--regime', 'backfill'], { signal: stop.signal });
      expect(stopped.code).toBe(1);
      expect(stopped.said).toContain('the same command continues from here');
      const dry = await run(['--regime', 'backfill', '--dry-run']);
      expect(dry.code).toBe(0);
      for (const part of ['to_side, mirrored', 'new / served', 'largest differences']) expect(dry.said).toContain(part);
      expect((await run([])).said).toContain('2  unfinished  backfill');
      await expect(run(['--swap'])).rejects.toMatchObject({ code: 'nothing_to_swap' });
      await expect(run(['--regime', 'backfill'], { minBasketDepthUsd: 77 })).rejects.toMatchObject({
        code: 'generation_in_the_way',
        message: expect.stringMatching(/under other rules \(minBasketDepthUsd\).*--drop 2/),
      });
      expect(await stamped()).toEqual(served);
    });

    it('serves the golden numbers of the other regime after a swap, and the earlier ones after a swap back', async () => {
      const made = await run(['--regime', 'backfill', '--json']);
      expect(readJsonOutput(`${made.said}\n`)).toMatchObject({
        command: 'reprocess',
        comparison: { rules: expect.any(Array) },
      });
      expect(made.code).toBe(0);
      expect(await stamped()).toEqual(served);
      expect((await run(['--swap'])).said).toBe('Generation 2 (backfill) is served.');
      const swappedEtag = await changedEtag(servedEtag);
      const rows = await stamped();
      for (const { txid, vout, status, ...wanted } of golden) {
        if (status === 'pending') continue;
        const row = rows.get(`${txid}:${vout}`);
        for (const name of ['rule', 'reason', 'regime', 'diverged'] as const) {
          expect([txid, vout, name, row[name]]).toEqual([txid, vout, name, wanted[name]]);
        }
        for (const name of ['fromUsd', 'toUsd', 'usdValue'] as const) {
          const servedValue = row[name] === null ? null : String(row[name]);
          expect([txid, vout, name, servedValue, isNearOrNull(servedValue, wanted[name])]).toEqual([
            txid,
            vout,
            name,
            servedValue,
            true,
          ]);
        }
      }
      expect((await run(['--swap-back'])).said).toBe('Generation 1 (live fold) is served.');
      expect(await changedEtag(swappedEtag)).toBe(servedEtag);
      expect(await stamped()).toEqual(served);
      expect((await run(['--drop', '2'])).code).toBe(0);
    });
  });
}
