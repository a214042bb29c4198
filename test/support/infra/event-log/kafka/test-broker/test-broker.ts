/** A real Kafka broker for tests: a given one, one in Docker, or one from jars. Without any of them, Kafka is not tested. */
import { startDockerBroker } from './docker-broker.ts';
import { startJavaBroker } from './java-broker.ts';

export interface TestBroker {
  readonly brokers: readonly string[];
  /** Ends the broker and removes its data. */
  stop(): Promise<void>;
  /** Kills the broker like a power failure (SIGKILL); `restart` starts it again at the same address with the same data. */
  kill(): Promise<void>;
  restart(): Promise<void>;
}

export interface Skipped {
  readonly skipped: string;
}

/**
 * Uses KAFKA_BROKERS, otherwise Docker, otherwise Java and Maven.
 * @throws Error instead of skipping when VERUSTREAM_REQUIRE_KAFKA=1, and when a broker fails to start
 */
export async function startTestBroker(): Promise<TestBroker | Skipped> {
  const broker = givenBroker(process.env.KAFKA_BROKERS) ?? (await startDockerBroker()) ?? (await startJavaBroker());
  if (broker) return broker;
  const skipped = 'Kafka was not tested: neither KAFKA_BROKERS, nor a Docker engine, nor Java 17 with Maven is here';
  if (process.env.VERUSTREAM_REQUIRE_KAFKA === '1') throw new Error(`${skipped} (VERUSTREAM_REQUIRE_KAFKA=1)`);
  return { skipped };
}

function givenBroker(addresses: string | undefined): TestBroker | null {
  if (!addresses) return null;
  const notOurs = async () => {
    throw new Error('the broker of KAFKA_BROKERS is not ended by a test');
  };
  return { brokers: addresses.split(','), stop: async () => {}, kill: notOurs, restart: notOurs };
}
