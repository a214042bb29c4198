/** Checks what a statement reads, by the syntax tree of ClickHouse's own parser: only the views, its own WITH queries, and generated rows. */
import { UsageError } from '../schemas/errors.ts';

export interface AllowedSources {
  readonly views: ReadonlySet<string>;
  /** Names that the statement's WITH defines. */
  readonly ctes: ReadonlySet<string>;
}

/**
 * The allowed nodes, which are those of a SELECT. Everything else that ClickHouse parses, such as a nested EXPLAIN or SETTINGS, is
 * refused, and so is APPLY, whose function and lambda the tree does not show.
 */
const NODES = new Set(
  `ArrayJoin Asterisk ColumnsExceptTransformer ColumnsListMatcher ColumnsRegexpMatcher ColumnsReplaceTransformer
   ColumnsReplaceTransformer::Replacement ColumnsTransformerList ExpressionList Function Identifier InterpolateElement Literal OrderByElement
   QualifiedAsterisk QualifiedColumnsListMatcher QualifiedColumnsRegexpMatcher SelectIntersectExceptQuery SelectQuery SelectWithUnionQuery
   StorageOrderByElement Subquery TableExpression TableIdentifier TableJoin TablesInSelectQuery TablesInSelectQueryElement
   WindowDefinition WindowListElement WithElement`.split(/\s+/),
);
/** Table functions that read nothing. */
const MADE_UP = new Set(['numbers', 'zeros', 'values', 'generateseries', 'generate_series']);
/** The table that a SELECT without FROM reads. */
const ONE_ROW = 'system.one';
/** Functions that read anything other than rows of the statement. */
const READING_FUNCTION =
  /^(file|dict.*|joinget.*|hascolumnintable|catboostevaluate|naivebayes.*|ai(classify|embed|extract|generate|translate)|generateserialid|get.*setting.*|getmacro|initialquery.*|evalmlmethod)$/i;
const IN_FUNCTION = /^(global)?(not)?(null)?in(ignoreset)?$/i;

const LINE = /^(\s*)(\S+)(?: (\S+))?/;

interface TreeNode {
  readonly depth: number;
  readonly kind: string;
  readonly name: string;
  /** Number of children read so far. */
  children: number;
}

/** `lines` is the output of EXPLAIN AST. @throws UsageError that states what is allowed */
export function checkSources(lines: readonly string[], { views, ctes }: AllowedSources): void {
  const known = [...views].join(', ');
  const isSource = (name: string) => views.has(name) || ctes.has(name) || name === ONE_ROW;
  const refuse = (what: string): never => {
    throw new UsageError(`"${what}" is not allowed: a statement reads the views ${known} alone`);
  };
  const path: TreeNode[] = [];
  for (const line of lines) {
    const [, indent = '', kind = '', name = ''] = LINE.exec(line) ?? [];
    while ((path.at(-1)?.depth ?? -1) >= indent.length) path.pop();
    const [list, parent] = [path.at(-1), path.at(-2)];
    if (list) list.children += 1;
    if (!NODES.has(kind)) refuse(kind);
    if (kind === 'TableIdentifier' && !isSource(name)) refuse(name);
    if (kind === 'Function') {
      const isTable = list?.kind === 'TableExpression';
      if (isTable ? !MADE_UP.has(name.toLowerCase()) : READING_FUNCTION.test(name)) refuse(name);
    }
    // A bare name after IN is a table.
    const isBehindIn = list?.children === 2 && parent?.kind === 'Function' && IN_FUNCTION.test(parent.name);
    if (kind === 'Identifier' && isBehindIn && !isSource(name)) refuse(`IN ${name}`);
    path.push({ depth: indent.length, kind, name, children: 0 });
  }
}

/** Returns the names before `AS (`, where a WITH defines them; quoted texts may add names that are not defined. */
export function cteNames(statement: string): Set<string> {
  return new Set([...statement.matchAll(/\b([A-Za-z_]\w*)\s+AS\s*\(/gi)].map(([, name = '']) => name));
}
