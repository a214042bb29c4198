/** `help` for the methods that this service answers itself, and for unknown names; the daemon answers the rest. */
import { rpcMethod, signatureOf } from './methods/method-table.ts';

/** Name, parameters and a sentence, in the format that the daemon's help begins with. */
export function usageOf(name: string): string {
  const method = rpcMethod(name);
  if (!method) throw new TypeError(`${name} is not served`);
  return `${signatureOf(name, method)}\n\n${method.summary}\n`;
}

/** Returns null if the daemon answers. */
export function helpOf(texts: readonly string[]): string | null {
  const [text, ...others] = texts;
  if (text === undefined || text === '""' || others.length > 0 || !text.startsWith('"')) return null;
  const name = String(JSON.parse(text));
  const method = rpcMethod(name);
  if (!method) return `help: unknown command: ${name}`;
  return method.source === 'daemon' ? null : usageOf(name);
}
