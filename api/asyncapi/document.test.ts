/** The AsyncAPI document is valid by the published schema, and describes every message of the stream. */
import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { pushEvents, pushNotices } from '../push/message-schema.ts';
import { CHANNELS } from '../push/push-event.ts';
import { KINDS } from '../webhooks/request-schema.ts';
import { asyncApiDocument } from './document.ts';
import { streamPart } from './stream-part.ts';
import { webhookPart } from './webhook-part.ts';

/** As published by the AsyncAPI initiative (@asyncapi/specs 6.11.1, Apache-2.0). */
const published = new URL('../../test/support/api/asyncapi/asyncapi-3.0.0.schema.json', import.meta.url);
const validate = new Ajv({ strict: false, validateFormats: false }).compile(
  JSON.parse(readFileSync(published, 'utf8')),
);

const document = asyncApiDocument({ parts: [streamPart, webhookPart], version: '1' });

/** Returns the value that a JSON pointer of the document refers to. */
function resolve(pointer: string): unknown {
  return pointer
    .replace('#/', '')
    .split('/')
    .reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], document);
}

describe('the AsyncAPI document', () => {
  it('is valid, and an invalid one is refused', () => {
    expect(validate(document) ? null : validate.errors).toBeNull();
    const { tell } = document.operations;
    expect(validate({ ...document, operations: { tell: { ...tell, action: 'shout' } } })).toBe(false);
    expect(validate({ ...document, channels: { x: { messages: { a: { payload: { type: 7 } } } } } })).toBe(false);
  });

  it('has no dangling references', () => {
    const pointers = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, pointer = '']) => pointer);
    expect(pointers.length).toBeGreaterThan(40);
    expect(pointers.filter((pointer) => resolve(pointer) === undefined)).toEqual([]);
  });

  it('describes every message, and an event for every channel', () => {
    const types = Object.keys({ ...pushEvents, ...pushNotices });
    expect(Object.keys(document.components.messages)).toEqual(expect.arrayContaining(types));
    const channels = Object.values(pushEvents).map(({ channel }) => channel);
    expect(new Set(channels)).toEqual(new Set([...CHANNELS, '*']));
    const kinds = KINDS.flatMap((kind) => [kind, ...(kind === 'reorg' ? [] : [`${kind}.reverted`])]);
    expect(Object.keys(webhookPart.messages)).toEqual(expect.arrayContaining(kinds.map((kind) => `webhook.${kind}`)));
  });
});
