/** Checks the text of a statement, which becomes a part of the command's own statement: exactly one SELECT is allowed. */
import { VIEW_NAMES } from '../pipeline/datasets/views.ts';
import { UsageError } from '../schemas/errors.ts';

/** Quoted texts and comments, whose content does not count. */
const OPAQUE =
  /'(?:[^'\\]|\\.|'')*'|"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`|--[^\n]*|\/\/[^\n]*|#[ !][^\n]*|\/\*[\s\S]*?\*\//g;
/** Heredocs and typographic quotes, which ClickHouse also accepts. */
const OTHER_QUOTES = /\$\w*\$|[‘’“”]/;
/** A quoted name that may contain a line break. It would forge a line of the printed syntax tree, where each node is a line. */
const BROKEN_NAME = /^["`].*[\\\r\n]/s;
const BEGINS = /^\s*\(*\s*(select|with)\b/i;
/** Clauses that set the destination, format and bounds of an answer. */
const CLAUSES = /\b(into\s+outfile|settings|format\s+\w+\s*$)/i;
/** Returns the statement without its last semicolon. @throws UsageError that states what is allowed */
export function checkedStatement(sql: string): string {
  const statement = sql.trim().replace(/\s*;$/, '');
  if (OTHER_QUOTES.test(statement)) throw new UsageError("write texts in '…' only, not in $$ or typographic quotes");
  const bare = statement.replaceAll(OPAQUE, ' ');
  if (statement.match(OPAQUE)?.some((text) => BROKEN_NAME.test(text)))
    throw new UsageError('a name in quotes must not have a backslash or a line break');
  if (/['"`]|\/\*/.test(bare)) throw new UsageError('the statement has a quote or a comment that does not end');
  if (bare.includes(';')) throw new UsageError('only one statement is allowed');
  if (!BEGINS.test(bare)) throw new UsageError('only a SELECT is allowed, which may begin with WITH');
  const clause = CLAUSES.exec(bare)?.[1];
  if (clause)
    throw new UsageError(`"${clause}" is not allowed: the options of the command set the format and the bounds`);
  let depth = 0;
  for (const character of bare) {
    if (character === '(') depth++;
    if (character === ')') depth--;
    if (depth < 0) break;
  }
  if (depth !== 0) throw new UsageError('the parentheses of the statement do not match');
  return statement;
}

/** Returns the text in the parentheses after each OVER of a checked statement. */
export function windowsIn(statement: string): string[] {
  const bare = statement.replaceAll(OPAQUE, (text) => ' '.repeat(text.length));
  return [...bare.matchAll(/\bover\s*\(/gi)].map(({ 0: opening, index }) => {
    const from = index + opening.length;
    let depth = 1;
    let to = from;
    for (; to < bare.length; to++) {
      if (bare[to] === '(') depth++;
      if (bare[to] === ')') depth--;
      if (depth === 0) break;
    }
    return statement.slice(from, to);
  });
}

/** Returns the views that the statement may use, by the words in its text. */
export function viewNames(sql: string): Set<string> {
  return new Set((sql.match(/\bv_[a-z_]+\b/g) ?? []).filter((name) => VIEW_NAMES.includes(name)));
}

/** Returns a test of whether the statement may use a column: it names the column, or uses `*` or COLUMNS. */
export function mentionsOf(sql: string): (column: string) => boolean {
  const mayUseAll = /\*|\bcolumns\s*\(/i.test(sql.replaceAll(/\bcount\s*\(\s*\*\s*\)/gi, ''));
  return (column) => mayUseAll || new RegExp(`\\b${column}\\b`).test(sql);
}
