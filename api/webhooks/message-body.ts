/** Bodies of messages: {"type","timestamp","chain","data"}, made once and sent as the same bytes in every attempt. */

export interface MessageContent {
  readonly type: string;
  /** Time of the event: the block's; for events without a block, the time of detection. */
  readonly at: Date;
  readonly chain: string | null;
  /** webhook-id of the message that it reverts. */
  readonly reverts?: string;
  /** JSON text. */
  readonly data: string;
}

export function messageBody({ type, at, chain, reverts, data }: MessageContent): string {
  const head = { type, timestamp: at.toISOString(), ...(chain !== null && { chain }), ...(reverts && { reverts }) };
  return `${JSON.stringify(head).slice(0, -1)}${DATA}${data}}`;
}

const DATA = ',"data":';

/** The body of the message that reverts another one: the same data, with type `<type>.reverted`. */
export function revertedBody(original: { id: string; kind: string; chain: string; body: string }, at: Date): string {
  const { id, kind, chain, body } = original;
  // Nothing before `data` contains a quotation mark that messageBody() did not write.
  const data = body.slice(body.indexOf(DATA) + DATA.length, -1);
  return messageBody({ type: revertedKind(kind), at, chain, reverts: id, data });
}

export function revertedKind(kind: string): string {
  return `${kind}.reverted`;
}

export function newMessageId(): string {
  return `msg_${crypto.randomUUID().replaceAll('-', '')}`;
}
