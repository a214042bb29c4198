/** Validates the messages of clients. */
import { Ajv, type ValidateFunction } from 'ajv';
import type { JsonSchema } from '../schema/json-schema.ts';
import { decimalMembers, parseWithDecimals } from '../schema/written-decimal.ts';
import { LONGEST_ID, pingMessage, subscribeMessage, unsubscribeMessage } from './client-message-schema.ts';
import { shortened } from './shortened.ts';

export type MessageId = string | number | null;

export interface Filter {
  readonly currency?: string | readonly string[];
  readonly basket?: string | readonly string[];
  readonly identity?: string | readonly string[];
  readonly address?: string | readonly string[];
  /** The number's digits, as text. */
  readonly minUsd?: string;
}

export interface SubscribeMessage {
  readonly op: 'subscribe';
  readonly id?: MessageId;
  readonly channels?: readonly string[];
  readonly chains?: readonly string[];
  readonly filter?: Filter;
  readonly confirmations?: number;
  readonly snapshot?: boolean;
  readonly cursor?: string;
}

export interface UnsubscribeMessage {
  readonly op: 'unsubscribe';
  readonly id?: MessageId;
}

export interface PingMessage {
  readonly op: 'ping';
  readonly id?: MessageId;
}

export type ClientMessage = SubscribeMessage | UnsubscribeMessage | PingMessage;

export type ReadMessage =
  | { readonly ok: true; readonly message: ClientMessage }
  | { readonly ok: false; readonly id: MessageId; readonly code: string; readonly detail: string };

// A test validates the schemas themselves: compiling JSON Schema's own schema takes longer than compiling all of them.
const ajv = new Ajv({ strict: true, allowUnionTypes: true, validateSchema: false });
/** Compiled on the first message of each op, so that the start does not wait for them. */
const validators: Readonly<Record<string, () => ValidateFunction>> = {
  subscribe: () => ajv.compile(subscribeMessage),
  unsubscribe: () => ajv.compile(unsubscribeMessage),
  ping: () => ajv.compile(pingMessage),
};

const DECIMALS = decimalMembers(subscribeMessage as JsonSchema);

export function readClientMessage(text: string): ReadMessage {
  let value: unknown;
  try {
    value = parseWithDecimals(text, DECIMALS);
  } catch {
    return { ok: false, id: null, code: 'invalid_json', detail: 'the message is not JSON' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, id: null, code: 'invalid_message', detail: 'the message is not an object with an op' };
  }
  const { op, id } = value as { op?: unknown; id?: unknown };
  const knownId = isMessageId(id) ? id : null;
  const validate = typeof op === 'string' && Object.hasOwn(validators, op) ? validators[op]?.() : undefined;
  if (!validate) {
    const ops = Object.keys(validators).join(', ');
    const what = typeof op === 'string' ? `unknown op ${shortened(op)}` : 'the op is not a string';
    return { ok: false, id: knownId, code: 'unknown_op', detail: `${what}: there are ${ops}` };
  }
  if (!validate(value)) {
    return {
      ok: false,
      id: knownId,
      code: 'invalid_message',
      detail: ajv.errorsText(validate.errors, { dataVar: 'message' }),
    };
  }
  return { ok: true, message: value as unknown as ClientMessage };
}

function isMessageId(id: unknown): id is MessageId {
  return typeof id === 'number' || (typeof id === 'string' && id.length <= LONGEST_ID);
}
