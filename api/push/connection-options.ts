/** What a client's connection is made of. */
import type { SubscribeMessage } from './client-message.ts';
import type { Hub } from './hub.ts';
import type { NetworkShare } from './network-share.ts';
import type { Transport } from './transport.ts';

export interface PushConnectionOptions {
  readonly hub: Hub;
  readonly transport: Transport;
  /** Given back when the connection ends. */
  readonly share: NetworkShare;
  /** Replaces the default subscription from the start, unless it is a cursor alone; `cursor` resumes. */
  readonly first: Omit<SubscribeMessage, 'op' | 'id'>;
  /** How long the default stream waits for a first subscribe, which then replaces it before anything was sent. */
  readonly graceMs: number;
  readonly heartbeatMs: number;
  /** A socket that takes nothing for this long is closed. */
  readonly slowMs: number;
}
