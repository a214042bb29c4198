/** Records the statements that the API sends to Postgres while it answers; each is a round trip. */
import pg from 'pg';
import { PROBE } from '../../api/state/store-health.ts';
import { READER_NAME } from '../../infra/postgres/reader.ts';

export interface SentStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

export interface ReaderStatements {
  /** Returns the statements since the last call. */
  take(): SentStatement[];
  stop(): void;
}

/** Records the statements of all readers of this process, except the probe of health, which runs once a second. */
export function recordReaderStatements(): ReaderStatements {
  let asked: SentStatement[] = [];
  // The untyped form of the method; its many overloads do not matter here.
  const prototype = pg.Client.prototype as unknown as { query(this: Named, ...args: unknown[]): unknown };
  const original = prototype.query;
  prototype.query = function query(this: Named, ...args) {
    const [statement] = args as [string | { readonly text: string; readonly values?: readonly unknown[] }];
    const { text, values = [] } = typeof statement === 'string' ? { text: statement } : statement;
    const isRequests = this.connectionParameters.application_name === READER_NAME && text !== PROBE.text;
    if (isRequests) asked.push({ text, values });
    return original.apply(this, args);
  };
  return {
    take: () => asked.splice(0),
    stop() {
      prototype.query = original;
      asked = [];
    },
  };
}

interface Named {
  readonly connectionParameters: { readonly application_name?: string };
}
