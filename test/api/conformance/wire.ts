/** Replays all HTTP requests that were recorded with the daemon: methods, paths, headers, malformed and huge bodies. */
import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { differenceOfWire, differences, fault } from '../../support/api/rpc/differences.ts';
import { recordedText } from '../truth.ts';

interface WireCase {
  readonly name: string;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers: Readonly<Record<string, string | null>> | null;
    readonly body: string | null;
  };
  readonly response: { readonly status?: number; readonly body?: string };
}

/** Long bodies were recorded by their beginning and length; each of them repeats one character. */
function wholeBody({ name, request: { body } }: WireCase): Buffer {
  const abridged = /^(.*?)(a+|\[+)\.\.\.\((\d+) bytes\)$/s.exec(body ?? '');
  if (abridged) {
    const [, head = '', filler = '', length] = abridged;
    const tail = filler.startsWith('a') ? '"}' : '}';
    const left = Number(length) - head.length - tail.length;
    const middle = filler.startsWith('a') ? 'a'.repeat(left) : '['.repeat(left / 2) + ']'.repeat(left / 2);
    return Buffer.from(head + middle + tail);
  }
  if (name === 'invalid-utf8') return Buffer.from((body ?? '').replaceAll('\ufffd', '\xff'), 'latin1');
  return Buffer.from(body ?? '');
}

function send(url: string, sent: WireCase): Promise<{ status: number; text: string }> {
  const { method, path, headers } = sent.request;
  const body = wholeBody(sent);
  const given = Object.entries(headers ?? {}).filter(([, value]) => value !== null) as [string, string][];
  return new Promise((resolve, reject) => {
    const length = method === 'POST' ? { 'Content-Length': body.length } : {};
    const call = request(
      `${url}${path}`,
      { method, agent: false, headers: { ...Object.fromEntries(given), ...length } },
      (answer) =>
        buffer(answer).then((bytes) => resolve({ status: answer.statusCode ?? 0, text: bytes.toString() }), reject),
    );
    call.on('error', reject);
    call.end(method === 'POST' ? body : undefined);
  });
}

export function wireConforms(url: () => string): void {
  describe('the wire of the daemon', () => {
    const cases = recordedText('wire.jsonl.gz')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as WireCase);

    it('is the recorded one, except for the listed differences', async () => {
      const wrong: unknown[] = [];
      for (const one of cases) {
        const { status, body } = one.response;
        if (status === undefined) {
          // The daemon cut the connection; this service answers why, if the client still reads.
          const answer = await send(url(), one).catch(() => null);
          if (answer && answer.status !== 413) wrong.push([one.name, 413, answer.status]);
          continue;
        }
        const got = await send(url(), one).catch((error: unknown) => ({ status: 0, text: String(error) }));
        const want = fault(got, { status, bodies: [body ?? ''] }, differenceOfWire(one.name));
        if (want !== null) wrong.push([one.name, want, got.status, got.text.slice(0, 300)]);
      }
      expect(wrong).toEqual([]);
      expect(cases.length).toBeGreaterThan(130);
    });

    it('has recorded every case of the listed differences', () => {
      const names = new Set(cases.map(({ name }) => name));
      const listed = differences.wire.flatMap((one) => one.cases);
      expect(listed.filter((name) => !names.has(name))).toEqual([]);
    });
  });
}
