/**
 * Everything that a request reads belongs to the same commit of the stages. Each statement is its own snapshot and checks that the state is still
 * the one that the answer names; a transaction is used only when the state keeps moving. docs/decisions/0023-point-reads.md
 */

import { createGatheredReads, type GatheredReads, type OwnedReader } from '../../infra/postgres/gathered-reads.ts';
import { type PostgresReader, prepared, type Statement } from '../../infra/postgres/reader.ts';
import type { RowReader, StoredRow } from '../../infra/row-reader.ts';
import { RetryableError } from '../../schemas/errors.ts';
import { createPriorityLanes, type WorkOwner } from '../access/priority-lanes.ts';
import { ApiError } from '../http/api-error.ts';
import type { CurrentState } from './current-state.ts';
import {
  readServiceState,
  readState,
  type ServiceState,
  STATE_SQL,
  type StateScope,
  VERSION_SQL,
} from './service-state.ts';
import type { StateWatch } from './state-watch.ts';

export interface Snapshot {
  readonly state: ServiceState;
  /** `isOpenEnded`: there are so many variants of the statement that a prepared one is not worth keeping. */
  rows<T>(reader: RowReader<T>, sql: string, values?: readonly unknown[], isOpenEnded?: boolean): Promise<T[]>;
  /** Returns the first row, or undefined. */
  row<T>(reader: RowReader<T>, sql: string, values?: readonly unknown[], isOpenEnded?: boolean): Promise<T | undefined>;
}

export type WithSnapshot = <T>(work: (read: Snapshot) => Promise<T>) => Promise<T>;

export interface SnapshotsOptions {
  readonly reader: PostgresReader;
  readonly watch: Pick<StateWatch, 'state' | 'beyond'>;
  readonly currentState: CurrentState;
  readonly scope: StateScope;
  /** Maximum of concurrent statements and transactions. */
  readonly atOnce: number;
}

/** The rows may belong to a later state than the one that the answer would name. */
class StateMoved extends RetryableError {
  constructor() {
    super('state_moved', 'the stores moved on while they were being read');
  }
}

/** Places reserved for the priority lane. */
const RESERVED = 2;
/** Clients time out and retry after about this long. */
const WAIT_MS = 15_000;
/** A state that has moved twice during one answer is likely to keep moving: then a transaction is used. */
const LOOSE_TRIES = 2;
const MOST_TRIES = 5;

export function createSnapshots(options: SnapshotsOptions): (owner: WorkOwner) => WithSnapshot {
  const lanes = createPriorityLanes({
    atOnce: options.atOnce,
    reserved: RESERVED,
    mostWaiting: Number.POSITIVE_INFINITY,
  });
  const { reader } = options;
  const inTurn: InTurn = (owner, work) => lanes.run(owner, WAIT_MS, work);
  const inTurns: OwnedReader<WorkOwner> = {
    ownerOf: lanes.quickest,
    query: (statement, values, owner) => inTurn(owner, () => reader.query(statement, values)),
    parameterTypes: (text, owner) => inTurn(owner, () => reader.parameterTypes(text)),
  };
  const gathered = {
    standard: createGatheredReads(inTurns, whileStill),
    priority: createGatheredReads(inTurns, whileStill),
  };
  return (owner) => createWithSnapshot(options, owner, inTurn, gathered[owner.lane]);
}

/** Queues work that needs a connection. */
type InTurn = <T>(owner: WorkOwner, work: () => Promise<T>) => Promise<T>;

function createWithSnapshot(
  { reader, watch, currentState, scope }: SnapshotsOptions,
  owner: WorkOwner,
  inTurn: InTurn,
  gathered: GatheredReads<WorkOwner>,
): WithSnapshot {
  /** @throws StateMoved unless everything that `work` read belongs to this state */
  async function inState<T>(work: (read: Snapshot) => Promise<T>, state: ServiceState): Promise<T> {
    let confirmed = false;
    const confirm = async () => {
      if ((await currentState()) !== state) throw new StateMoved();
      confirmed = true;
    };
    const read = reading(state, async (sql, values, isOpenEnded) => {
      const found = isOpenEnded
        ? await inTurn(owner, () => reader.query(openEnded(sql, values.length), [...values, state.version]))
        : await gathered(sql, values, state.version, owner);
      // No row may mean another state. States never recur: if the state is unchanged now, it was unchanged during the read.
      if (found.length === 0) await confirm();
      confirmed = true;
      return found;
    });
    try {
      const value = await work(read);
      if (!confirmed) await confirm();
      return value;
    } catch (error) {
      if (error instanceof ApiError && !confirmed) await confirm();
      throw error;
    }
  }

  function inTransaction<T>(work: (read: Snapshot) => Promise<T>): Promise<T> {
    return inTurn(ofTransactions(owner), () =>
      reader.snapshot(STATE_SQL, (rows, ask) =>
        work(
          reading(readServiceState(rows.map(readState), scope), (sql, values, isOpenEnded) =>
            ask(isOpenEnded ? { name: undefined, text: sql } : prepared(sql), values),
          ),
        ),
      ),
    );
  }

  return async (work) => {
    for (let tries = 1; ; tries++) {
      const { state } = watch;
      try {
        return await (tries <= LOOSE_TRIES ? inState(work, state) : inTransaction(work));
      } catch (error) {
        // A transaction can also throw StateMoved: from a memoized value that another request was computing.
        if (!(error instanceof StateMoved) || tries === MOST_TRIES) throw error;
      }
      if (watch.state === state) await watch.beyond(state);
    }
  };
}

type ReadRows = (sql: string, values: readonly unknown[], isOpenEnded: boolean) => Promise<readonly StoredRow[]>;

function reading(state: ServiceState, readRows: ReadRows): Snapshot {
  const rows = async <R>(reader: RowReader<R>, sql: string, values: readonly unknown[] = [], isOpenEnded = false) =>
    (await readRows(sql, values, isOpenEnded)).map(reader);
  return { state, rows, row: async <R>(...asked: Parameters<typeof rows<R>>) => (await rows(...asked))[0] };
}

/** A separate payer: a transaction keeps its place while it waits for other reads of the same caller, which must not wait for that place. */
const ofTransactions = ({ lane, payer }: WorkOwner): WorkOwner => ({ lane, payer: `transactions of ${payer}` });

const openEnded = (sql: string, count: number): Statement => ({ name: undefined, text: whileStill(sql, count) });

/** Returns no row when the state has another version, which is compared once before anything is read. The last value is the version. */
function whileStill(sql: string, count: number): string {
  return `SELECT * FROM (${sql}) AS found WHERE (${VERSION_SQL}) = $${count + 1}`;
}
