/** Types of the stream's messages, derived from their schemas. */
import type { subscribeMessage } from '../../api/push/client-message-schema.ts';
import type { pushEvents, pushNotices } from '../../api/push/message-schema.ts';
import type { Typed } from '../../api/schema/json-schema.ts';
import type { Parsed } from '../parsed.ts';

type MessageOf<D> = D extends { readonly message: infer S } ? Parsed<Typed<S>> : never;
type Events = { [K in keyof typeof pushEvents]: MessageOf<(typeof pushEvents)[K]> };
type Notices = { [K in keyof typeof pushNotices]: MessageOf<(typeof pushNotices)[K]> };

export type ChainEvent = Events[keyof Events];
export type ServerMessage = ChainEvent | Notices[keyof Notices];
export type ConversionEvent = Events['conversion'];
export type SnapshotNotice = Notices['snapshot'];
/** The message with which a client subscribes. */
export type SubscribeMessage = Parsed<Typed<typeof subscribeMessage>>;
