/** A client of the push stream that checks every message. */
import { Ajv, type ValidateFunction } from 'ajv';
import { expect } from 'vitest';
import { pushEvents, pushNotices } from '../../api/push/message-schema.ts';
import type { LooseJson } from './truth.ts';

const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false });
const validators = new Map<string, ValidateFunction>(
  Object.entries({ ...pushEvents, ...pushNotices }).map(([type, { message }]) => [type, ajv.compile(message)]),
);

/** Faults of a message by its published schema; null if there are none. */
export function messageFaults(message: LooseJson): string | null {
  const validate = validators.get(message.type);
  if (!validate) return `no message has the type ${message.type}`;
  return validate(message) ? null : `${message.type}: ${ajv.errorsText(validate.errors)}`;
}

/** Reads messages one by one; validates each with its schema, and checks `seq`. */
export class StreamReader {
  readonly messages: LooseJson[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly socket: WebSocket;
  closed: { code: number; reason: string } | null = null;
  #read = 0;
  #seq = 0;

  constructor(port: number, query = '') {
    this.socket = new WebSocket(`ws://127.0.0.1:${port}/api/ws${query}`);
    this.socket.onmessage = ({ data }) => this.#add(JSON.parse(data));
    this.socket.onclose = ({ code, reason }) => {
      this.closed = { code, reason };
      this.#wake();
    };
  }

  #add(message: LooseJson): void {
    expect(messageFaults(message)).toBeNull();
    if (message.type !== 'hello') expect(message.seq).toBe(++this.#seq);
    this.messages.push(message);
    this.#wake();
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  async next(): Promise<LooseJson> {
    const deadline = Date.now() + 60_000;
    while (this.#read >= this.messages.length) {
      if (this.closed || Date.now() > deadline) throw new Error(`no message: ${JSON.stringify(this.closed)}`);
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
        setTimeout(resolve, 1000);
      });
    }
    return this.messages[this.#read++];
  }

  /** Messages up to and including the first one that fits, without heartbeats. */
  async until(fits: (message: LooseJson) => boolean): Promise<LooseJson[]> {
    const found: LooseJson[] = [];
    for (;;) {
      const message = await this.next();
      if (message.type !== 'heartbeat') found.push(message);
      if (fits(message)) return found;
    }
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  async opened(): Promise<LooseJson> {
    const hello = await this.next();
    expect(hello).toMatchObject({ type: 'hello', version: 1 });
    return hello;
  }

  async close(): Promise<void> {
    this.socket.close();
    while (!this.closed) await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

/** Folds block and undo messages to a chain; every block must follow the one before. */
export function foldBlocks(
  messages: readonly LooseJson[],
  chain: Map<number, string> = new Map(),
): Map<number, string> {
  for (const { type, data } of messages) {
    if (type === 'block') {
      const top = Math.max(...chain.keys());
      if (chain.size > 0) expect([data.height, data.previousHash]).toEqual([top + 1, chain.get(top)]);
      chain.set(data.height, data.hash);
    } else if (type === 'undo') {
      expect(data.fromHeight).toBe(Math.max(...chain.keys()));
      for (const height of [...chain.keys()]) if (height > data.toHeight) chain.delete(height);
      if (chain.has(data.toHeight)) expect(chain.get(data.toHeight)).toBe(data.hash);
    }
  }
  return chain;
}
