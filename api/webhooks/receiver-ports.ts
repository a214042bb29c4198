/** The ports that a webhook may be sent to. */

const HTTP_PORT = 80;
const HTTPS_PORT = 443;
/** Lower ports belong to the services of a system: mail, shells, name servers. */
const FIRST_FREE_PORT = 1024;

/**
 * Higher ports that are refused: those that browsers refuse (WHATWG Fetch, "bad port"), and the default ports of databases, queues
 * and machine control. No receiver uses them.
 */
const SERVICES: ReadonlySet<number> = new Set([
  // Fetch
  ...[
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
  ],
  // SQL Server, Oracle, MySQL, Postgres, CouchDB, Redis, Cassandra, Elasticsearch, memcached, MongoDB
  ...[1433, 1521, 3306, 5432, 5984, 6379, 9042, 9200, 9300, 11211, 27017, 27018, 27019],
  // ZooKeeper, AMQP, Kafka
  ...[2181, 5671, 5672, 9092],
  // Docker, etcd, remote desktop, VNC, WinRM, Kubernetes
  ...[2375, 2376, 2379, 2380, 3389, 5900, 5985, 5986, 6443, 10250],
]);

/** Text for error messages. */
export const ALLOWED_PORTS =
  '443, and those from 1024 up that belong to no database, queue or other well-known service';

export function isReceiverPort({ port, protocol }: Pick<URL, 'port' | 'protocol'>): boolean {
  // URL omits the default port of the protocol.
  const number = port === '' ? (protocol === 'https:' ? HTTPS_PORT : HTTP_PORT) : Number(port);
  return number === HTTPS_PORT || (number >= FIRST_FREE_PORT && !SERVICES.has(number));
}
