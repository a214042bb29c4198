/** The daemon's ZMQ publisher: `hashblock` and `hashtx`, each message with the sequence number of its topic. */
import { Publisher } from 'zeromq';
import { type ZmqTopic, zmqFrames } from '../../schemas/verusd/zmq-message.ts';

export interface ZmqPublisher {
  /** tcp://host:port */
  readonly address: string;
  publish(topic: ZmqTopic, hash: string): void;
  close(): void;
}

/** The port of `address` may be open: `tcp://127.0.0.1:*`. */
export async function openZmqPublisher(address: string): Promise<ZmqPublisher> {
  const socket = new Publisher({ linger: 0 });
  await socket.bind(address);
  const numbers = new Map<ZmqTopic, number>();
  let sending: Promise<void> = Promise.resolve();
  return {
    address: socket.lastEndpoint ?? address,
    publish(topic, hash) {
      const number = numbers.get(topic) ?? 0;
      numbers.set(topic, (number + 1) % 2 ** 32);
      // The socket allows one send at a time.
      sending = sending.then(() => (socket.closed ? undefined : socket.send(zmqFrames(topic, hash, number))));
    },
    close: () => socket.close(),
  };
}
