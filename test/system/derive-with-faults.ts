/**
 * Derives the first configured chain again, from an optional height, with a processor that fails on one transaction in twenty, so that dead
 * letters remain as from an older program. A separate program, because the embedded engine opens one data folder per process.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { openResources } from '../../commands/open-resources.ts';
import { loadConfig } from '../../infra/config/load-config.ts';
import { createLogger } from '../../infra/logger.ts';
import { readStagePosition } from '../../infra/postgres/stage-positions.ts';
import { isRedriven, requestRedrive } from '../../pipeline/derive/redrive.ts';
import { runDerive } from '../../pipeline/derive/run-derive.ts';
import { nativeCurrencyId } from '../../schemas/native-currency-id.ts';

const config = loadConfig(process.env);
const [chain] = config.chains;
if (!chain) throw new TypeError('no chain');
const logger = createLogger('error');
const { stores, log, close } = await openResources(config, logger);
const { pool } = stores.postgres;
const before = await readStagePosition(pool, 'derive', chain.name);
const id = await requestRedrive(pool, chain.name, Number(process.argv[2] ?? 1));
const end = new AbortController();
const deriving = runDerive({
  chain,
  nativeCurrencyId: nativeCurrencyId(chain),
  log,
  stores,
  logger,
  signal: end.signal,
  status: () => undefined,
  probe({ tx: transactions }) {
    for (const { txid, vin } of transactions) {
      if (vin.length > 0 && Number.parseInt(txid.slice(0, 6), 16) % 20 === 0) throw new TypeError('fails on this one');
    }
  },
});
const isDone = async (): Promise<boolean> =>
  (await isRedriven(pool, id)) && (await readStagePosition(pool, 'derive', chain.name))?.position === before?.position;
while (!(await isDone())) await sleep(50);
end.abort();
await deriving;
await close();
