/** An answer in the forms that clients take: as it is, or compressed with a validator of its own. */
import { chooseEncoding, compressed, type Encoding, isCompressible } from './compression.ts';
import { etagOf } from './etag.ts';
import { headerLines } from './header-lines.ts';
import type { Reply } from './reply.ts';
import { andThen, type Soon } from './soon.ts';

export interface Content {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array | null;
  /** State that it was made from; null for what has no validator. */
  readonly tag: string | null;
}

/** Each form is made when it is first asked for; what is kept of an answer keeps them. */
export type Forms = (acceptEncoding: string) => Soon<Reply>;

export function formsOf(content: Content): Forms {
  const { body, headers } = content;
  const canCompress = body !== null && isCompressible(body, headers['Content-Type'] ?? '');
  const made = new Map<Encoding | null, Reply>();
  return (acceptEncoding) => {
    const encoding = canCompress ? chooseEncoding(acceptEncoding) : null;
    const known = made.get(encoding);
    if (known) return known;
    const bytes = body === null || encoding === null ? body : compressed(body, encoding);
    return andThen(bytes, (sent) => {
      const form = formOf(content, canCompress, encoding, sent);
      made.set(encoding, form);
      return form;
    });
  };
}

function formOf(
  { status, headers, tag }: Content,
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
  return { status, headers: lines, body };
}
