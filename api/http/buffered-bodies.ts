/**
 * Bounds the memory of request bodies over all connections, in total and for each network. Beyond a bound it evicts the unfinished body that has
 * held most memory for longest, so a client with a small or fast body gets through, whatever other clients hold.
 */
import { partitionPoint } from '../../domain/partition-point.ts';

export interface BufferedBodies {
  hold(network: string, holder: BufferedBody): BodyReservation;
}

export interface BufferedBody {
  /** Called at most once, from within the `grow` of any body: it must release its memory. */
  evict(): void;
}

export interface BodyReservation {
  /** Sets the bytes that the body holds from now on; may evict other bodies, or this one. */
  grow(bytes: number): void;
  /** Marks the body as whole: it is not evicted any more. Returns false when there is no room to work on it now. */
  keep(): boolean;
  release(): void;
}

export interface BufferedBodiesOptions {
  /** Maximum bytes of all bodies. */
  readonly most?: number;
  readonly mostOfNetwork?: number;
  /** Maximum bytes of large whole bodies that await an answer; the rest stays free for bodies that are arriving. */
  readonly mostKept?: number;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

const MEBIBYTE = 1024 * 1024;
/** Eight of the largest bodies: a body takes a few times its size while it is parsed. */
const MOST = 64 * MEBIBYTE;
/** Three of the largest calls, or the largest batch and a call; one network may hold at most a quarter of the total. */
const MOST_OF_NETWORK = 16 * MEBIBYTE;
const MOST_KEPT = 40 * MEBIBYTE;
/** Whole bodies up to this size are never refused: the limits on requests bound their number. */
const SMALL = 64 * 1024;

/** Share of the bound that one eviction frees, so that the next thousand small bodies need no search for room. */
const FREED = 0.1;

interface Network {
  /** The sum of all its bodies. */
  bytes: number;
  bodies: number;
  /** Bytes of its whole bodies. */
  kept: number;
  /** Bodies that are arriving: only these are evicted. */
  readonly unfinished: Body[];
}

type Sizes = Readonly<Pick<Network, 'bytes' | 'kept'>>;

interface Room {
  grow(body: Body, bytes: number): void;
  keep(body: Body): boolean;
  drop(body: Body): void;
}

/** A class, because every request with a body makes one: its methods exist once. */
class Body implements BodyReservation {
  readonly network: Network;
  readonly holder: BufferedBody;
  readonly #room: Room;
  /** Index in the `unfinished` of its network; -1 once it has left that list. */
  place: number;
  isHeld = true;
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

/** Number of known networks above which all networks without a body are removed at once. */
const MOST_IDLE = 1_000;

/**
 * Keeps bodies in no Set or Map: V8 makes a new table every few entries and removals, and a table that has reached the old generation
 * keeps its entries alive until the next full collection. That cost 1.5 µs a call.
 */
export function createBufferedBodies({
  most = MOST,
  mostOfNetwork = MOST_OF_NETWORK,
  mostKept = MOST_KEPT,
  now = () => performance.now(),
}: BufferedBodiesOptions = {}): BufferedBodies {
  const networks = new Map<string, Network>();
  let forgetAt = MOST_IDLE;
  let held = 0;
  let kept = 0;

  function networkOf(name: string): Network {
    const known = networks.get(name);
    if (known) return known;
    if (networks.size >= forgetAt) forgetIdle();
    const network: Network = { bytes: 0, bodies: 0, kept: 0, unfinished: [] };
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
    if (body.isWhole) addKept(body.network, bytes);
  }

  function addKept(network: Network, bytes: number): void {
    network.kept += bytes;
    kept += bytes;
  }

  /** Moves the last body of the list to the place that is now free. */
  function leaveUnfinished(body: Body): void {
    const { unfinished } = body.network;
    const last = unfinished.pop();
    if (last && last !== body) {
      unfinished[body.place] = last;
      last.place = body.place;
    }
    body.place = -1;
  }

  function drop(body: Body): void {
    if (!body.isHeld) return;
    body.isHeld = false;
    if (!body.isWhole) leaveUnfinished(body);
    body.network.bodies -= 1;
    add(body, -body.bytes);
  }

  function evict(body: Body): void {
    drop(body);
    body.holder.evict();
  }

  /**
   * Evicts down to the bound, if necessary also the growing body; then only other bodies, down to `least`. This clears at most half of the room
   * that whole bodies leave.
   */
  function makeRoom(among: Iterable<Network>, growing: Body, bound: number, size: () => Sizes, at: number): void {
    const least = bound - Math.min(bound * FREED, Math.max(0, bound - size().kept) / 2);
    for (const body of costliestFirst(among, at)) {
      const { bytes } = size();
      if (bytes <= least) return;
      if (bytes > bound || body !== growing) evict(body);
    }
  }

  const room: Room = {
    grow(body, bytes) {
      if (!body.isHeld) return;
      const { network } = body;
      const at = now();
      body.rent += body.bytes * (at - body.at);
      body.at = at;
      add(body, bytes - body.bytes);
      if (network.bytes > mostOfNetwork) makeRoom([network], body, mostOfNetwork, () => network, at);
      if (held > most) makeRoom(networks.values(), body, most, () => ({ bytes: held, kept }), at);
    },
    keep(body) {
      if (body.isWhole) return body.isHeld;
      if (!body.isHeld || (body.bytes > SMALL && kept + body.bytes > mostKept)) return false;
      leaveUnfinished(body);
      body.isWhole = true;
      addKept(body.network, body.bytes);
      return true;
    },
    drop,
  };

  return {
    hold(name, holder) {
      const network = networkOf(name);
      network.bodies += 1;
      const body = new Body(network, holder, room, network.unfinished.length, now());
      network.unfinished.push(body);
      return body;
    },
  };
}

/** Counts each body as a millisecond older than it is: otherwise the size of new bodies would not matter. */
const rentOf = (body: Body, at: number) => body.rent + body.bytes * (at - body.at + 1);

/** Yields unfinished bodies: each time the costliest one of the network whose remaining bodies cost most. Sorts only once. */
function* costliestFirst(among: Iterable<Network>, at: number): Generator<Body> {
  const queues: { rent: number; readonly bodies: { readonly body: Body; readonly rent: number }[] }[] = [];
  for (const { unfinished } of among) {
    if (unfinished.length === 0) continue;
    const bodies = unfinished.map((body) => ({ body, rent: rentOf(body, at) })).sort((a, b) => a.rent - b.rent);
    queues.push({ rent: bodies.reduce((sum, { rent }) => sum + rent, 0), bodies });
  }
  queues.sort((a, b) => a.rent - b.rent);
  for (let queue = queues.pop(); queue; queue = queues.pop()) {
    const costliest = queue.bodies.pop();
    if (!costliest) continue;
    yield costliest.body;
    queue.rent -= costliest.rent;
    if (queue.bodies.length === 0) continue;
    const { rent } = queue;
    const place = partitionPoint(queues, (other) => other.rent < rent);
    queues.splice(place, 0, queue);
  }
}
