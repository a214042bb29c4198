/** A json column of which a statement may read members: PostgreSQL refuses a whole text for one U+0000 in any of its strings. */

/** SQL of the column with U+FFFD in the place of U+0000. What is shown in full is read as text instead. */
export function readableJson(column: string): string {
  // A backslash that is itself escaped begins no escape.
  const replaced = `regexp_replace(${column}::text, '(?<!\\\\)((?:\\\\\\\\)*)\\\\u0000', '\\1\\\\ufffd', 'g')::json`;
  return `CASE WHEN ${column}::text LIKE '%\\\\u0000%' THEN ${replaced} ELSE ${column} END`;
}
