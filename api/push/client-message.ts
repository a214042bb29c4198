/** What clients send, checked. */
import { Ajv, type ValidateFunction } from 'ajv';
import { pingMessage, subscribeMessage, unsubscribeMessage } from '../../schemas/rest/push.ts';

export type MessageId = string | number | null;

export interface Filter {
  readonly currency?: string | readonly string[];
  readonly basket?: string | readonly string[];
  readonly identity?: string | readonly string[];
  readonly address?: string | readonly string[];
  readonly minUsd?: number;
}

export interface SubscribeMessage {
  readonly op: 'subscribe';
  readonly id?: MessageId;
  readonly channels?: readonly string[];
  readonly chains?: readonly string[];
  readonly filter?: Filter;
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

const ajv = new Ajv({ strict: true, allowUnionTypes: true });
const validators: Readonly<Record<string, ValidateFunction>> = {
  subscribe: ajv.compile(subscribeMessage),
  unsubscribe: ajv.compile(unsubscribeMessage),
  ping: ajv.compile(pingMessage),
};

export function readClientMessage(text: string): ReadMessage {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, id: null, code: 'invalid_json', detail: 'the message is not JSON' };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { ok: false, id: null, code: 'invalid_message', detail: 'the message is no object with an op' };
  }
  const { op, id } = value as { op?: unknown; id?: unknown };
  const knownId = typeof id === 'string' || typeof id === 'number' ? id : null;
  const validate = typeof op === 'string' && Object.hasOwn(validators, op) ? validators[op] : undefined;
  if (!validate) {
    const ops = Object.keys(validators).join(', ');
    return { ok: false, id: knownId, code: 'unknown_op', detail: `unknown op ${JSON.stringify(op)}: there are ${ops}` };
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
