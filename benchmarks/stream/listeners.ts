/** WebSocket clients in their own process, which note when each block arrives at each client, by hash. */
import { monotonicMs } from '../monotonic.ts';

const [url = '', count = '1', say = ''] = process.argv.slice(2);
const HASH = /"hash":"([0-9a-f]{64})"/;
let arrivals: (readonly [hash: string, at: number])[] = [];

const greeted = Array.from({ length: Number(count) }, () => {
  const socket = new WebSocket(url);
  return new Promise<void>((resolve, reject) => {
    socket.onopen = () => {
      if (say !== '') socket.send(say);
      setTimeout(resolve, 500);
    };
    socket.onerror = () => reject(new Error(`no WebSocket at ${url}`));
    socket.onclose = ({ code, reason }) => reject(new Error(`the WebSocket was closed: ${code} ${reason}`));
    socket.onmessage = ({ data }) => {
      const hash = HASH.exec(String(data).slice(0, 1000))?.[1];
      if (hash) arrivals.push([hash, monotonicMs()]);
    };
  });
});
await Promise.all(greeted);
process.on('message', () => {
  process.send?.(arrivals);
  arrivals = [];
});
process.on('disconnect', () => process.exit());
process.send?.('listening');
