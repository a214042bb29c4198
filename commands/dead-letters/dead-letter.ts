/** A row of the dead letters, as a line of text and as JSON. */
export interface DeadLetterRow {
  readonly chain: string;
  readonly height: number;
  readonly ordinal: number;
  readonly scope: string;
  readonly txid: string | null;
  readonly n: number | null;
  readonly code: string;
  readonly message: string;
  readonly payload: string | null;
  readonly position: bigint;
}

export function placeOf({ chain, height, ordinal, scope, txid, n }: DeadLetterRow): string {
  const part = scope === 'block' ? '' : ` ${txid ?? '(no txid)'}${n === null ? '' : `:${n}`}`;
  return `${chain}  ${height}/${ordinal}  ${scope}${part}`;
}

export function deadLetterState({ chain, height, ordinal, scope, txid, n, code, message }: DeadLetterRow): object {
  return { chain, height, ordinal, scope, txid, n, code, message };
}
