/** Makes members of a json column readable by statements: PostgreSQL rejects the whole value for one U+0000 in any of its strings. */

/** SQL of the column with U+FFFD in place of U+0000. A value that is shown in full is read as text instead. */
export function readableJson(column: string): string {
  // An escaped backslash does not begin an escape.
  const replaced = `regexp_replace(${column}::text, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u0000', '\\1\\\\ufffd', 'g')::json`;
  return `CASE WHEN ${column}::text LIKE '%\\\\u0000%' THEN ${replaced} ELSE ${column} END`;
}
