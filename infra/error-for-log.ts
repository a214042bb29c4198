/** Converts an error for the log: keeps its plain members, but not objects that libraries attach, because these contain secrets. */

export interface LoggedError {
  readonly type: string;
  readonly message: string;
  readonly stack?: string;
  readonly cause?: LoggedError;
  /** Errors of an AggregateError. */
  readonly errors?: readonly LoggedError[];
  readonly [member: string]: unknown;
}

const DEEPEST = 4;
const MOST_ERRORS = 4;
/** Depth added for each level of aggregation, so that the number of errors stays small. */
const BREADTH = 2;
const LONGEST_TEXT = 2000;
const OWN = new Set(['name', 'message', 'stack', 'cause', 'errors', 'type']);
/** Node.js stores here the text that new URL() could not parse, including its password. */
const SECRET = 'input';

export function errorForLog(error: unknown, depth = 0): LoggedError {
  if (!(error instanceof Error)) return { type: typeof error, message: cut(String(error)) };
  const { stack, cause } = error;
  const errors = error instanceof AggregateError ? error.errors.slice(0, MOST_ERRORS) : [];
  const isDeep = depth >= DEEPEST;
  return {
    ...plainMembers(error),
    type: error.constructor.name,
    message: cut(error.message),
    ...(stack !== undefined && { stack: cut(stack) }),
    ...(cause !== undefined && !isDeep && { cause: errorForLog(cause, depth + 1) }),
    ...(errors.length > 0 && !isDeep && { errors: errors.map((one) => errorForLog(one, depth + BREADTH)) }),
  };
}

/** Returns plain members such as `code`, `syscall` and `constraint`. */
function plainMembers(error: Error): Record<string, unknown> {
  const plain = Object.entries(error).filter(([name, value]) => !OWN.has(name) && name !== SECRET && isPlain(value));
  return Object.fromEntries(plain.map(([name, value]) => [name, typeof value === 'string' ? cut(value) : value]));
}

function isPlain(value: unknown): boolean {
  return value === null || ['string', 'number', 'boolean'].includes(typeof value);
}

function cut(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}
