/** An answer in the forms that clients accept: plain, or compressed with its own validator. */
import { chooseEncoding, compressed, type Encoding, isCompressible } from './compression.ts';
import { etagOf } from './etag.ts';
import { headerLines } from './header-lines.ts';
import { composedHead, type Reply } from './reply.ts';

export interface ReplyContent {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** State that the body was made from; null for an answer without a validator. */
  readonly tag: string | null;
}

/** Each form is made at its first request and cached with the answer. */
export interface Forms {
  /** Returns null when this form has to be compressed first. */
  atHand(acceptEncoding: string): Reply | null;
  make(acceptEncoding: string): Promise<Reply>;
}

export function formsOf(content: ReplyContent): Forms {
  const { body, headers } = content;
  const canCompress = body !== null && isCompressible(body, headers['Content-Type'] ?? '');
  const made = new Map<Encoding | null, Reply>();
  const encodingOf = (acceptEncoding: string) => (canCompress ? chooseEncoding(acceptEncoding) : null);

  function keep(encoding: Encoding | null, bytes: Uint8Array | null): Reply {
    const form = formOf(content, canCompress, encoding, bytes);
    made.set(encoding, form);
    return form;
  }

  return {
    atHand(acceptEncoding) {
      const encoding = encodingOf(acceptEncoding);
      return made.get(encoding) ?? (encoding === null ? keep(null, body) : null);
    },
    async make(acceptEncoding) {
      const encoding = encodingOf(acceptEncoding);
      if (body === null || encoding === null) return keep(null, body);
      return keep(encoding, await compressed(body, encoding));
    },
  };
}

function formOf(
  { status, headers, tag }: ReplyContent,
  canCompress: boolean,
  encoding: Encoding | null,
  body: Uint8Array | null,
): Reply {
  const { Vary, ...others } = headers;
  const varies = [...(Vary === undefined ? [] : [Vary]), ...(canCompress ? ['Accept-Encoding'] : [])];
  const lines = headerLines({
    ...others,
    ...(varies.length > 0 && { Vary: varies.join(', ') }),
    ...(tag !== null && { ETag: etagOf(tag, encoding) }),
    ...(encoding !== null && { 'Content-Encoding': encoding }),
  });
  return { status, headers: lines, head: composedHead(lines), body };
}
