/** Clients that are not at the end of the stream, served in turn: network by network, and client by client within each. */
import type { Pace } from '../../infra/pace.ts';

export interface Served {
  /** Its turns are shared with all clients of this network. */
  readonly network: string;
  /** One turn, which rests within where it is long; true when there is more to do. Never rejects. */
  serve(): Promise<boolean>;
}

export interface CatchUp {
  /** Serves the client as soon as it is its turn. */
  request(client: Served): void;
}

/** @param atOnce clients served at a time, so that one waiting for the log does not delay all others */
export function createCatchUp(atOnce: number, pace: Pace): CatchUp {
  /** In the order of their turns. */
  const queue = new Map<string, Set<Served>>();
  /** Value: whether the client was queued again in the meantime. */
  const serving = new Map<Served, boolean>();

  function enqueue(client: Served): void {
    const clients = queue.get(client.network);
    if (clients) clients.add(client);
    else queue.set(client.network, new Set([client]));
  }

  function next(): Served | null {
    for (const [network, clients] of queue) {
      queue.delete(network);
      const [client] = clients;
      if (!client) continue;
      clients.delete(client);
      if (clients.size > 0) queue.set(network, clients);
      return client;
    }
    return null;
  }

  async function work(first: Served): Promise<void> {
    for (let client: Served | null = first; client; client = next()) {
      serving.set(client, false);
      if (pace.isSpent()) await pace.rest();
      const more = await client.serve();
      const again = serving.get(client);
      serving.delete(client);
      if (more || again) enqueue(client);
    }
  }

  return {
    request(client) {
      if (serving.has(client)) serving.set(client, true);
      else enqueue(client);
      const free = serving.size < atOnce ? next() : null;
      if (free) void work(free);
    },
  };
}
