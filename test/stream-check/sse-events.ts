/** Messages of GET /api/stream, as an EventSource would deliver them. */
import type { ServerMessage } from '../../client/stream/messages.ts';

/** Ends when the connection ends, for whatever reason. */
export async function* sseMessages(
  url: string,
  lastEventId: string | null,
  signal: AbortSignal,
): AsyncGenerator<ServerMessage, void, void> {
  const headers = lastEventId === null ? {} : { 'last-event-id': lastEventId };
  // A separate signal, because fetch does not remove its listener.
  const stop = new AbortController();
  const abort = () => stop.abort();
  signal.addEventListener('abort', abort, { once: true });
  let text = '';
  try {
    const answer = await fetch(url, { headers, signal: stop.signal }).catch(() => null);
    if (!answer?.ok || !answer.body) return;
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const frames = text.split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) {
        const data = frame.split('\n').find((line) => line.startsWith('data: '));
        if (data) yield JSON.parse(data.slice('data: '.length)) as ServerMessage;
      }
    }
  } catch (error) {
    if (!(error instanceof TypeError || signal.aborted)) throw error; // fetch throws a TypeError when the connection is cut
  } finally {
    signal.removeEventListener('abort', abort);
    stop.abort();
  }
}
