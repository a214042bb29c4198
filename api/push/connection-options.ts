/** Options of a client's connection. */
import type { SubscribeMessage } from './client-message.ts';
import type { Hub } from './hub.ts';
import type { NetworkShare } from './network-share.ts';
import type { Transport } from './transport.ts';

export interface PushConnectionOptions {
  readonly hub: Hub;
  readonly transport: Transport;
  /** Closed when the connection ends. */
  readonly share: NetworkShare;
  /** Replaces the default subscription from the start, unless it is only a cursor; `cursor` resumes. */
  readonly first: Omit<SubscribeMessage, 'op' | 'id'>;
  /** How long the default stream waits for a first subscribe, which then replaces it before anything is sent. */
  readonly graceMs: number;
  readonly heartbeatMs: number;
  /** A socket that does not accept all that waits within this time is closed. */
  readonly slowMs: number;
}
