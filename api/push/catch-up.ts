/** Serves clients that are not at the end of the stream in turns: by network, and by client within each network. */
import type { Pace } from '../../infra/pace.ts';

export interface Served {
  /** All clients of a network share its turns. */
  readonly network: string;
  /** Takes one turn, with rests if it is long; resolves to true if there is more to do. Never rejects. */
  serve(): Promise<boolean>;
}

export interface CatchUp {
  /** Queues the client for its next turn. */
  request(client: Served): void;
}

/** @param atOnce clients served at a time, so that one waiting for the log does not delay all others */
export function createCatchUp(atOnce: number, pace: Pace): CatchUp {
  /** Waiting clients by network, the network with the next turn first. */
  const queue = new Map<string, Set<Served>>();
  /** Clients that are being served; true if the client was requested again meanwhile. */
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
