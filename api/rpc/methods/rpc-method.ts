/** Entry of a method in the table that the handler, the limiter's costs, `help` and docs/json-rpc.md read. */
import type { MethodGuard } from '../guards.ts';
import type { ParameterType } from '../parameters/parameter-type.ts';
import type { Repeatable } from './repeatable.ts';

export type RpcMethod = IndexMethod | ExtensionMethod | DaemonMethod;

export interface Described {
  /** In the notation of the daemon's help: quoted strings, optional ones in parentheses. */
  readonly parameters: string;
  /** Type of each parameter, by position. */
  readonly types: readonly ParameterType[];
  /** One sentence. */
  readonly summary: string;
}

export interface IndexMethod extends Described {
  readonly source: 'index';
}

export interface ExtensionMethod extends Described {
  readonly source: 'extension';
  readonly asksDaemon?: true;
}

export interface DaemonMethod extends Described {
  readonly source: 'daemon';
  /** Requirement without which the method does not exist. */
  readonly servedWhen?: MethodGuard;
  readonly guards: readonly MethodGuard[];
  readonly load: Load;
  /** Absent: every call goes to the daemon. */
  readonly repeatable?: Repeatable;
  /** Its answers describe the node's own wallet: whom it can spend and sign for. */
  readonly namesWallet?: true;
  /** A second attempt could do it twice. */
  readonly broadcasts?: true;
}

/** Bounds of a call to a chain's daemon. */
export interface Load {
  readonly name: 'light' | 'heavy' | 'slow';
  readonly timeoutMs: number;
  /** Calls of the same load at the same time; Infinity leaves it to the limit of the chain. */
  readonly atOnce: number;
  /** Calls that may wait for their turn; more are refused. */
  readonly waiting: number;
}

const LOADS = {
  light: { name: 'light', timeoutMs: 30_000, atOnce: Number.POSITIVE_INFINITY, waiting: 0 },
  /** Reads as much as its parameters name. */
  heavy: { name: 'heavy', timeoutMs: 60_000, atOnce: 3, waiting: 60 },
  /** Walks the whole chain. */
  slow: { name: 'slow', timeoutMs: 300_000, atOnce: 1, waiting: 8 },
} as const satisfies Record<string, Load>;

type Options = Partial<Omit<DaemonMethod, 'source' | 'load' | keyof Described>> & {
  readonly load?: keyof typeof LOADS;
};

type Types = readonly ParameterType[];

export function daemon(
  parameters: string,
  types: Types,
  summary: string,
  { load = 'light', ...options }: Options = {},
): DaemonMethod {
  return { source: 'daemon', parameters, types, summary, guards: [], ...options, load: LOADS[load] };
}

export const fromIndex = (parameters: string, types: Types, summary: string): IndexMethod => ({
  source: 'index',
  parameters,
  types,
  summary,
});

/** They read their parameters, by position or as one object, themselves. */
export const extension = (parameters: string, summary: string, types: Types = []): ExtensionMethod => ({
  source: 'extension',
  parameters,
  types,
  summary,
});
