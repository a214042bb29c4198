/**
 * A verusd that plays a recording of a real one: the same wire format, and the same answers at every height. A client that follows it cannot
 * tell the difference.
 */
import { resolve } from 'node:path';
import { getOrInsert } from '../../domain/get-or-insert.ts';
import { type AnswerCall, createAnswerCall } from './answer-call.ts';
import { createDaemonServer, type ReceivedRequest } from './daemon-server.ts';
import { createRandom, type Faults } from './faults.ts';
import { loadRecordedCalls } from './recorded-calls.ts';
import { loadRecording, type RecordedBranch, type Recording } from './recording.ts';
import { createStory } from './story.ts';
import { openZmqPublisher } from './zmq-publisher.ts';

export interface RecordedNodeOptions {
  /** Folder of the recording. */
  readonly folder: string;
  /** Address to listen on; the loopback interface when absent. */
  readonly host?: string;
  /** Port; 0 or absent picks a free port. */
  readonly port?: number;
  /** Initial height; defaults to historyHeight, then to the recorded tip. */
  readonly startHeight?: number;
  /** The first move of the story releases all blocks up to this height at once. */
  readonly historyHeight?: number;
  /** Seconds between two moves of the story; when absent, only `step` moves it. */
  readonly paceSeconds?: number;
  /** Address on which it publishes its blocks over ZMQ, for example `tcp://127.0.0.1:*`; absent: no publisher. */
  readonly zmq?: string;
  readonly user: string;
  readonly password: string;
  /** Called for every request received, including refused ones. */
  readonly onRequest?: (request: ReceivedRequest) => void;
}

export interface RecordedNode {
  /** Includes the credentials. */
  readonly url: string;
  /** Address of its ZMQ publisher. */
  readonly zmq: string | null;
  readonly height: number;
  readonly hash: string;
  /** Height at which the recording ends. */
  readonly tip: number;
  /** The newest height that both recorded branches share. */
  readonly fork: number;
  /** Whether all blocks are released, so that the chain no longer moves. */
  readonly ended: boolean;
  /** Makes one move of the story: a block, or the switch from the abandoned branch to the main branch. */
  step(): void;
  /** Jumps to a height of the main branch without showing the abandoned branch. */
  advanceTo(height: number): void;
  /** Loses the newest blocks, as only a broken node does. */
  back(blocks: number): void;
  /** Shows a branch, up to its end unless a height is given. */
  branch(name: RecordedBranch, height?: number): void;
  /** Replaces all faults; {} removes them. */
  setFaults(faults: Faults): void;
  stop(): Promise<void>;
}

interface Played {
  readonly recording: Recording;
  readonly answerCall: AnswerCall;
}

/** Loaded recordings by folder: they do not change, and tests play the same recording on many nodes. */
const played = new Map<string, Played>();

function playedFrom(path: string): Played {
  const folder = resolve(path);
  return getOrInsert(played, folder, () => {
    const recording = loadRecording(folder);
    return { recording, answerCall: createAnswerCall(recording, loadRecordedCalls(folder)) };
  });
}

export async function startRecordedNode(options: RecordedNodeOptions): Promise<RecordedNode> {
  const { folder, host = '127.0.0.1', port = 0, paceSeconds, user, password } = options;
  const { recording, answerCall } = playedFrom(folder);
  const startHeight = options.startHeight ?? options.historyHeight ?? recording.tip;
  const story = createStory(recording, { startHeight, historyHeight: options.historyHeight ?? startHeight });
  let faults: Faults = {};
  let random = createRandom(1);

  const server = createDaemonServer({
    user,
    password,
    faults: () => faults,
    random: () => random(),
    call: (method, params, texts) => answerCall(story.view, method, params, texts),
    onRequest: options.onRequest ?? (() => {}),
  });
  await server.listen(port, host);
  const address = server.address();
  const publisher = options.zmq === undefined ? null : await openZmqPublisher(options.zmq);

  /** Publishes like the daemon: of several new blocks only the last one is announced, with its transactions. */
  function moving(move: () => void): void {
    const before = story.view.best;
    move();
    const { best } = story.view;
    if (best === before || faults.silentPublisher) return;
    for (const txid of best.txids) publisher?.publish('hashtx', txid);
    publisher?.publish('hashblock', best.hash);
  }

  const move = () => {
    if (!faults.stalledTip) moving(story.step);
  };
  const pacer = paceSeconds === undefined ? undefined : setInterval(move, paceSeconds * 1000);
  pacer?.unref();

  return {
    url: `http://${encodeURIComponent(user)}:${encodeURIComponent(password)}@127.0.0.1:${address.port}`,
    zmq: publisher?.address ?? null,
    tip: recording.tip,
    fork: recording.fork,
    get height() {
      return story.view.height;
    },
    get hash() {
      return story.view.best.hash;
    },
    get ended() {
      return story.ended;
    },
    step: () => moving(story.step),
    advanceTo: (height) => moving(() => story.advanceTo(height)),
    back: (blocks) => moving(() => story.back(blocks)),
    branch: (name, height) => moving(() => story.showBranch(name, height)),
    setFaults(next) {
      faults = next;
      random = createRandom(next.seed ?? 1);
    },
    async stop() {
      clearInterval(pacer);
      publisher?.close();
      await server.close();
    },
  };
}
