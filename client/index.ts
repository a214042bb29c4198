/** The exports of the package: the client of the REST interface, and the stream. */
export { type ClientOptions, createVerustreamClient, type TextPaths } from './client.ts';
export { isNumberText, type NumberText } from './exact-json.ts';
export type { paths } from './paths.ts';
export type { ChainEvent, ServerMessage } from './stream/messages.ts';
export * from './stream/stream.ts';
