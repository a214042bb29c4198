/** Entry of the method table, which the handler, the costs, `help` and docs/json-rpc.md are based on. */
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
  /** A call that does not meet this requirement is answered as an unknown method. */
  readonly servedWhen?: MethodGuard;
  readonly guards: readonly MethodGuard[];
  readonly load: Load;
  /** Absent: every call goes to the daemon. */
  readonly repeatable?: Repeatable;
  /** Whether answers reveal the node's own wallet, that is, for whom it can spend and sign. */
  readonly namesWallet?: true;
  /** Never retried: a second attempt could broadcast twice. */
  readonly broadcasts?: true;
}

/** Limits of a class of calls to a chain's daemons. */
export interface Load {
  readonly name: 'light' | 'heavy' | 'slow';
  readonly timeoutMs: number;
  /** Most concurrent calls of the same load; Infinity: only the limit of the chain applies. */
  readonly atOnce: number;
  /** Most calls that wait for their turn; further calls are refused. */
  readonly waiting: number;
}

const LOADS = {
  light: { name: 'light', timeoutMs: 30_000, atOnce: Number.POSITIVE_INFINITY, waiting: 0 },
  /** The work depends on the parameters. */
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

/** Extension methods read their parameters themselves, by position or as one object. */
export const extension = (parameters: string, summary: string, types: Types = []): ExtensionMethod => ({
  source: 'extension',
  parameters,
  types,
  summary,
});
