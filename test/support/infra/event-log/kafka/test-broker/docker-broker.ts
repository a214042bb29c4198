/** Starts the broker in a container, on machines with a Docker engine. */
import { spawnSync } from 'node:child_process';
import { reservePort } from '../../../reserved-port.ts';
import type { TestBroker } from './test-broker.ts';

const IMAGE = 'apache/kafka:4.4.0';

/** Returns null when no Docker engine answers. */
export async function startDockerBroker(): Promise<TestBroker | null> {
  const engine = spawnSync('docker', ['info', '--format', '{{.ServerVersion}}'], { timeout: 10_000 });
  if (engine.status !== 0) return null;
  // Imported only here: the module is large and useless without an engine.
  const { GenericContainer, Wait } = await import('testcontainers');
  const { port } = await reservePort();
  const container = await new GenericContainer(IMAGE)
    .withExposedPorts({ container: port, host: port })
    .withEnvironment({
      KAFKA_NODE_ID: '1',
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_LISTENERS: `PLAINTEXT://:${port},CONTROLLER://:9093`,
      KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://127.0.0.1:${port}`,
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
    })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .start();
  const docker = (...args: string[]) => {
    const { status, stderr } = spawnSync('docker', [...args, container.getId()]);
    if (status !== 0) throw new Error(`docker ${args.join(' ')}: ${stderr}`);
  };
  return {
    brokers: [`127.0.0.1:${port}`],
    stop: async () => {
      await container.stop();
    },
    kill: async () => docker('kill'),
    restart: async () => docker('start'),
  };
}
