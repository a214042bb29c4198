/**
 * Memory that bodies of requests hold, over all connections: bounded in total and for each network, and what is over is given
 * up by whoever has held most for longest. So who sends little and soon gets through, whatever others hold.
 */

export interface BufferedBodies {
  hold(network: string, holder: BufferedBody): BodyReservation;
}

export interface BufferedBody {
  /** Called at most once, from within any `grow`: the body must release its memory. */
  evict(): void;
}

export interface BodyReservation {
  /** Bytes that it holds from now on; may evict others, or itself. */
  grow(bytes: number): void;
  /** It is whole, and stays until it is released. False: there is no room to work on it now. */
  keep(): boolean;
  release(): void;
}

export interface BufferedBodiesOptions {
  /** Bytes of all bodies. */
  readonly most?: number;
  readonly mostOfNetwork?: number;
  /** Bytes of large bodies that have arrived whole and await an answer; the rest stays free for bodies that are arriving. */
  readonly mostKept?: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

const MEBIBYTE = 1024 * 1024;
/** Eight of the largest bodies: while one is read it becomes a few times its size. */
const MOST = 64 * MEBIBYTE;
/** Three of the largest calls, or the largest batch and a call; one network may hold at most a quarter of the total. */
const MOST_OF_NETWORK = 16 * MEBIBYTE;
const MOST_KEPT = 40 * MEBIBYTE;
/** Whole bodies up to here are not worth refusing: so few bytes are waited for by as many requests as are let in. */
const SMALL = 64 * 1024;

/** Total size and number of the bodies of one network. */
interface Network {
  bytes: number;
  bodies: number;
}

interface Room {
  grow(body: Body, bytes: number): void;
  keep(body: Body): boolean;
  drop(body: Body): void;
}

/** A class, since one is made at every request with a body: its methods are not. */
class Body implements BodyReservation {
  readonly network: Network;
  readonly holder: BufferedBody;
  readonly #room: Room;
  /** In the list of all; -1 once it is none of them. */
  place: number;
  bytes = 0;
  /** Bytes × milliseconds, up to `at`. */
  rent = 0;
  at: number;
  isWhole = false;

  constructor(network: Network, holder: BufferedBody, room: Room, place: number, at: number) {
    this.network = network;
    this.holder = holder;
    this.#room = room;
    this.place = place;
    this.at = at;
  }

  grow(bytes: number): void {
    this.#room.grow(this, bytes);
  }

  keep(): boolean {
    return this.#room.keep(this);
  }

  release(): void {
    this.#room.drop(this);
  }
}

/** Networks without a body that are known at least before they are forgotten together. */
const MOST_IDLE = 1_000;

/**
 * Bodies are in no Set or Map: V8 makes a new table every few entries and removals, and an old table that has reached the old generation
 * keeps what it held alive until the next full collection. That cost a call 1.5 µs.
 */
export function createBufferedBodies({
  most = MOST,
  mostOfNetwork = MOST_OF_NETWORK,
  mostKept = MOST_KEPT,
  now = () => performance.now(),
}: BufferedBodiesOptions = {}): BufferedBodies {
  const bodies: Body[] = [];
  const networks = new Map<string, Network>();
  let forgetAt = MOST_IDLE;
  let held = 0;
  let kept = 0;

  function networkOf(name: string): Network {
    const known = networks.get(name);
    if (known) return known;
    if (networks.size >= forgetAt) forgetIdle();
    const network = { bytes: 0, bodies: 0 };
    networks.set(name, network);
    return network;
  }

  function forgetIdle(): void {
    for (const [name, network] of networks) if (network.bodies === 0) networks.delete(name);
    forgetAt = Math.max(MOST_IDLE, 2 * networks.size);
  }

  function add(body: Body, bytes: number): void {
    body.bytes += bytes;
    body.network.bytes += bytes;
    held += bytes;
  }

  /** The last of the list takes its place. */
  function drop(body: Body): void {
    if (body.place < 0) return;
    const last = bodies.pop();
    if (last && last !== body) {
      bodies[body.place] = last;
      last.place = body.place;
    }
    body.place = -1;
    body.network.bodies -= 1;
    if (body.isWhole) kept -= body.bytes;
    add(body, -body.bytes);
  }

  /** A body is a millisecond old when it begins, or among the new ones size would not count. */
  const rentOf = (body: Body, at: number) => body.rent + body.bytes * (at - body.at + 1);

  const unfinished = () => bodies.filter((body) => !body.isWhole);

  /** The one of these that has held most for longest, of the network that has. */
  function costliest(candidates: readonly Body[], at: number): Body | undefined {
    const rents = new Map<Network, number>();
    for (const body of candidates) rents.set(body.network, (rents.get(body.network) ?? 0) + rentOf(body, at));
    const weight = (body: Body) => [rents.get(body.network) ?? 0, rentOf(body, at)] as const;
    let worst: Body | undefined;
    for (const body of candidates) {
      if (!worst) worst = body;
      const [network, own] = weight(body);
      const [worstNetwork, worstOwn] = weight(worst);
      if (network > worstNetwork || (network === worstNetwork && own > worstOwn)) worst = body;
    }
    return worst;
  }

  function evictOne(candidates: readonly Body[], at: number): void {
    const body = costliest(candidates, at);
    if (!body) return;
    drop(body);
    body.holder.evict();
  }

  const room: Room = {
    grow(body, bytes) {
      if (body.place < 0) return;
      const { network } = body;
      const at = now();
      body.rent += body.bytes * (at - body.at);
      body.at = at;
      add(body, bytes - body.bytes);
      while (body.place >= 0 && network.bytes > mostOfNetwork) {
        evictOne(
          unfinished().filter((other) => other.network === network),
          at,
        );
      }
      while (body.place >= 0 && held > most) evictOne(unfinished(), at);
    },
    keep(body) {
      if (body.place < 0 || (body.bytes > SMALL && kept + body.bytes > mostKept)) return false;
      body.isWhole = true;
      kept += body.bytes;
      return true;
    },
    drop,
  };

  return {
    hold(name, holder) {
      const network = networkOf(name);
      network.bodies += 1;
      const body = new Body(network, holder, room, bodies.length, now());
      bodies.push(body);
      return body;
    },
  };
}
