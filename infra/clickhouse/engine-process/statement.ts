/** A statement with parameters on a connection of the engine. */
import type { Session } from 'chdb';

export interface EngineStatement {
  readonly sql: string;
  /** Values of `{name:Type}`, as formatParameter writes them. */
  readonly params?: Readonly<Record<string, string>>;
  readonly settings?: Readonly<Record<string, string>>;
}

type Value = string | number | bigint | boolean | null | readonly Value[];

const NAME = /^\w+$/;
const ESCAPES: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\t': '\\t',
  '\n': '\\n',
  '\r': '\\r',
  '\b': '\\b',
  '\f': '\\f',
  '\0': '\\0',
};
const SPECIAL = /[\\'\t\n\r\b\f\0]/g;

const escapeText = (text: string): string => text.replace(SPECIAL, (character) => ESCAPES[character] ?? character);

/** Formats a parameter in the engine's format for parameters, TabSeparated. @throws TypeError when it is not a valid value */
export function formatParameter(value: unknown): string {
  if (value === null) return '\\N';
  return typeof value === 'string' ? escapeText(value) : formatNested(value as Value);
}

function formatNested(value: Value): string {
  if (Array.isArray(value)) return `[${value.map(formatNested).join(',')}]`;
  if (typeof value === 'string') return `'${escapeText(value)}'`;
  if (typeof value === 'boolean') return value ? '1' : '0';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  if (value === null) return 'NULL';
  throw new TypeError(`a parameter of ClickHouse cannot be ${typeof value}`);
}

/**
 * Sets the parameters on the connection first: the engine's own call for parameters runs one such statement at a time in the whole
 * process, so a slow one would block all others (docs/decisions/0112-engine-process.md).
 */
export async function runStatement(session: Session, { sql, params, settings }: EngineStatement): Promise<Uint8Array> {
  const sets = [...assignments(settings, ''), ...assignments(params, 'param_')];
  const prefix = sets.length === 0 ? '' : `SET ${sets.join(', ')}; `;
  return (await session.queryAsync(prefix + sql, { format: 'TabSeparated' })).bytes();
}

function assignments(values: Readonly<Record<string, string>> | undefined, prefix: string): string[] {
  return Object.entries(values ?? {}).map(([name, value]) => {
    if (!NAME.test(name)) throw new TypeError(`${JSON.stringify(name)} is no name of a parameter or setting`);
    return `${prefix}${name} = '${value.replace(/[\\']/g, '\\$&')}'`;
  });
}
