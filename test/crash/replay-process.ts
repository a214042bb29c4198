/** A process for the crash test to kill: derives and prices the log of a data folder to its end. Argument: the folder. */
import { pino } from 'pino';
import { openResources } from '../../commands/open-resources.ts';
import { loadConfig } from '../../infra/config/load-config.ts';
import { runDerive } from '../../pipeline/derive/run-derive.ts';
import { runPrice } from '../../pipeline/price/run-price.ts';
import { decodeBlocksRecord } from '../../schemas/log-codec.ts';
import { nativeCurrencyId } from '../../schemas/native-currency-id.ts';
import type { StageStatus } from '../../schemas/stage-status.ts';

const [folder] = process.argv.slice(2);
if (!folder) throw new TypeError('no data folder');
const config = loadConfig({ DATA_DIR: folder });
const [chain] = config.chains;
if (!chain) throw new TypeError('no chain');
const logger = pino({ level: 'warn' }, pino.destination({ dest: 2, sync: true }));
const { stores, log, topics, close } = await openResources(config, logger);
console.log('open');

const last = await log.last('blocks', chain.name);
const tip = last ? decodeBlocksRecord(last.payload).height : -1;
const end = new AbortController();
const done = new Set<string>();

function doneAtTip(stage: string, { state, height }: StageStatus): void {
  if (state === 'following' && height === tip) done.add(stage);
  if (done.size === 2) end.abort();
}

const id = nativeCurrencyId(chain);
const common = { log, stores, logger, signal: end.signal };
await Promise.all([
  runDerive({ ...common, chain, nativeCurrencyId: id, status: (status) => doneAtTip('derive', status) }),
  runPrice({
    ...common,
    topics,
    chains: [{ ...chain, nativeCurrencyId: id }],
    config,
    status: (_, status) => doneAtTip('price', status),
  }),
]);
await close();
