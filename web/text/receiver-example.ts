/** A webhook receiver from examples/, filled in with the values of one webhook. */
export interface ReceiverValues {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
}

const PORT = '8090';
const FILE = 'webhook-messages.jsonl';
const HEAD = 'A receiver of webhooks:';

/** @throws Error when the example no longer contains the texts to replace */
export function receiverExample(source: string, { id, url, events }: ReceiverValues): string {
  const { port, href } = new URL(url);
  // An asterisk could end the comment that contains the URL.
  const of = `A receiver of webhook ${id} (${events.join(', ')}) at ${href.replaceAll('*', '%2A')}:`;
  return [
    [HEAD, of],
    [PORT, port === '' ? PORT : port],
    [FILE, `webhook-${id}.jsonl`],
    ['examples/', ''],
  ].reduce((text, [from = '', to = '']) => {
    if (!text.includes(from)) throw new Error(`the example has no ${from}`);
    return text.replaceAll(from, to);
  }, source);
}
