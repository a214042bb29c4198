/** The clients of a benchmark, in their own process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { Latencies, Order } from './clients.ts';

export interface Crowd {
  /** Each client sends `say`, if given, once it is connected. */
  open(port: number, count: number, say?: string): Promise<void>;
  stall(count: number): Promise<void>;
  /** Resolves once every reading client has received this many messages, including those of the greeting. */
  got(messages: number): Promise<void>;
  latencies(): Promise<Latencies>;
  close(): Promise<void>;
  end(): void;
}

export function startCrowd(): Crowd {
  const child = fork(fileURLToPath(new URL('./clients.ts', import.meta.url)));
  child.once('exit', (code) => {
    if (code) throw new Error(`the clients ended with ${code}`);
  });
  async function ask(order: Order): Promise<Latencies | null> {
    child.send(order);
    const [{ value }] = (await once(child, 'message')) as [{ value: Latencies | null }];
    return value;
  }
  return {
    open: async (port, count, say) => void (await ask({ do: 'open', port, count, say: say ?? null })),
    stall: async (count) => void (await ask({ do: 'stall', count })),
    got: async (messages) => void (await ask({ do: 'await', messages })),
    latencies: async () => (await ask({ do: 'latencies' })) as Latencies,
    close: async () => void (await ask({ do: 'close' })),
    end: () => child.disconnect(),
  };
}
