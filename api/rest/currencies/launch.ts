/** Progress of a currency's launch, and the amounts preconverted for it. */

import { parseExact } from '../../../domain/json/exact-json.ts';
import { IS_PRELAUNCH_SQL, launchStatus } from '../../../domain/launch.ts';
import type { ExactNumber } from '../../../domain/satoshi.ts';
import { coinsToSatoshis } from '../../../domain/satoshi.ts';
import { readableJson } from '../../../infra/postgres/json-columns.ts';
import { columns, type RowOf } from '../../../infra/row-reader.ts';
import { coins } from '../../http/values.ts';
import type { Currencies } from '../../state/currency-directory.ts';

export const LAUNCH = {
  /** Flags in the newest state; null without a state. */
  flags: columns.nullable(columns.number),
  start_block: columns.nullable(columns.number),
  /** The last state before the launch was decided, as the daemon prints it; null if this chain did not launch the currency. */
  launch_state: columns.nullable(columns.text),
};
type LaunchRecord = RowOf<typeof LAUNCH>;

/**
 * Selects the last state of a currency `c` before its launch on the system $4. Few states precede its start block. A currency that
 * another system launched has none here, because its start block is a height of that system.
 */
export const LAUNCH_STATE_SQL = `SELECT l.state FROM currency_states l
  WHERE l.chain = c.chain AND l.currency_id = c.currency_id AND l.from_height <= c.start_block AND l.${IS_PRELAUNCH_SQL}
    AND (${readableJson('c.definition')})->>'launchsystemid' = $4
  ORDER BY l.from_height DESC, l.tx_index DESC, l.vout DESC LIMIT 1`;

interface Preconvertible {
  readonly currencies?: readonly string[];
  readonly minpreconversion?: readonly ExactNumber[];
  readonly maxpreconversion?: readonly ExactNumber[];
}

interface LaunchState {
  readonly currencies?: Readonly<Record<string, { readonly reservein?: ExactNumber }>>;
}

const amountOrNull = (amount: ExactNumber | undefined) =>
  amount === undefined ? null : coins(coinsToSatoshis(amount));

/** `definition` as the daemon prints it. */
export function launchAnswer(record: LaunchRecord, definition: unknown, tip: number, currencies: Currencies) {
  const { currencies: ids = [], minpreconversion: minimum, maxpreconversion: maximum } = definition as Preconvertible;
  const status = launchStatus(record.flags);
  const startBlock = record.start_block ?? 0;
  const state = record.launch_state === null ? null : (parseExact(record.launch_state) as LaunchState);
  const preconversions = ids.map((currencyId, index) => ({
    currencyId,
    currencyName: currencies.name(currencyId),
    amount: amountOrNull(state?.currencies?.[currencyId]?.reservein ?? undefined),
    minimum: amountOrNull(minimum?.[index]),
    maximum: amountOrNull(maximum?.[index]),
  }));
  return {
    status,
    startBlock,
    blocksToStart: status === 'prelaunch' ? Math.max(0, startBlock - tip) : null,
    preconversions: state === null ? [] : preconversions,
  };
}
