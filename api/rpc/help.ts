/** help: what this service serves. Of a daemon's method the daemon itself tells more, so that call is handed on. */
import { METHOD_GROUPS, rpcMethod, signatureOf } from './methods/method-table.ts';

const list = (): string =>
  Object.entries(METHOD_GROUPS)
    .map(([group, methods]) => {
      const lines = Object.entries(methods).map(([name, method]) => signatureOf(name, method));
      return [`== ${group} ==`, ...lines.sort()].join('\n');
    })
    .join('\n\n');

/** Name, parameters and a sentence, as the beginning of the daemon's help. */
export function usageOf(name: string): string {
  const method = rpcMethod(name);
  if (!method) throw new TypeError(`${name} is not served`);
  return `${signatureOf(name, method)}\n\n${method.summary}\n`;
}

/** Null: the daemon answers. */
export function helpOf(texts: readonly string[]): string | null {
  const [text, ...others] = texts;
  if (text === undefined || text === '""') return list();
  if (others.length > 0 || !text.startsWith('"')) return null;
  const name = String(JSON.parse(text));
  const method = rpcMethod(name);
  if (!method) return `help: unknown command: ${name}`;
  return method.source === 'daemon' ? null : usageOf(name);
}
