/** Reads the current state from Postgres; the watch in memory may not know the last commit yet. */
import { type PostgresReader, prepared } from '../../infra/postgres/reader.ts';
import { columns, rowReader } from '../../infra/row-reader.ts';
import { shared } from '../../infra/shared.ts';
import { type ServiceState, VERSION_SQL } from './service-state.ts';
import type { StateWatch } from './state-watch.ts';

/** Never returns a state from before the call; one query serves all waiting callers. */
export type CurrentState = () => Promise<ServiceState>;

const VERSION = prepared(`SELECT (${VERSION_SQL}) AS version`);
const readVersion = rowReader({ version: columns.nullable(columns.text) });

export function createCurrentState(reader: PostgresReader, watch: Pick<StateWatch, 'state' | 'beyond'>): CurrentState {
  return shared(async () => {
    const [row] = (await reader.query(VERSION, [])).map(readVersion);
    if (row?.version !== watch.state.version) await watch.beyond(watch.state);
    return watch.state;
  });
}
