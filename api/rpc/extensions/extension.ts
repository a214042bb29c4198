/** A method that only this service has; it computes its answer from one snapshot of the index. */
import type { ChainConfig } from '../../../schemas/config.ts';
import type { ApiContext } from '../../api-context.ts';
import type { Snapshot } from '../../state/snapshot.ts';

export interface ExtensionCall {
  readonly api: ApiContext;
  readonly chain: ChainConfig;
  readonly read: Snapshot;
  /** JSON texts of the parameters. */
  readonly texts: readonly string[];
}

/** If the result is a function, it runs after the snapshot is closed, for example to ask a daemon. Throws RpcError. */
export type Extension = (call: ExtensionCall) => Promise<unknown>;
