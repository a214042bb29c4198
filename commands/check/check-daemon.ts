/** Checks one daemon of a chain: whether it answers, follows the right chain, keeps up, and can be exposed. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../infra/logger.ts';
import { askWallet } from '../../infra/verusd/ask-wallet.ts';
import { DaemonAuthFailed, DaemonRpcError, DaemonWarmingUp } from '../../infra/verusd/daemon-errors.ts';
import { createVerusdClient, type VerusdClient } from '../../infra/verusd/verusd-client.ts';
import { openZmqNotifications } from '../../infra/verusd/zmq-notifications.ts';
import type { ChainConfig } from '../../schemas/config.ts';
import { nativeCurrencyId } from '../../schemas/native-currency-id.ts';
import { checkIndexes } from './check-indexes.ts';
import { type Finding, findingsOf } from './finding.ts';

const TIMEOUT_MS = 10_000;
const LOOK_MS = 50;
/** Limit for all wallet calls together: the daemon counts a wallet under its main lock. */
const WALLET_MS = 30_000;
/** Version of the verusd that made the test suite's recording. */
const TESTED_VERSION = '1.2.16';
/** A daemon adjusts its time to its peers by up to 70 minutes; staked blocks need a much smaller offset. */
const MOST_CLOCK_SECONDS = 30;

/** Members of `getinfo` that are read here. */
interface DaemonInfo {
  readonly VRSCversion?: string;
  readonly name?: string;
  readonly chainid?: string;
  readonly blocks: number;
  readonly longestchain?: number;
  readonly connections?: number;
  readonly timeoffset?: number;
  readonly testnet?: boolean;
  readonly errors?: string;
}

/** `place` is the daemon's place in the chain's list, from 1. */
export async function checkDaemon(
  chain: ChainConfig,
  rpc: string,
  place: number,
  logger: Logger,
): Promise<readonly Finding[]> {
  const subject = `daemon ${chain.name} ${place}`;
  const { failed } = findingsOf(subject);
  let client: VerusdClient;
  try {
    client = createVerusdClient({ rpc, chain: chain.name, logger, connections: 2, timeoutMs: TIMEOUT_MS });
  } catch (error) {
    return [failed(error, 'write the address as http://user:password@host:port')];
  }
  try {
    const info = (await client.call('getinfo', [])) as DaemonInfo;
    const identity = identityOf(chain, info, client.address, subject);
    if (identity.verdict === 'wrong') return [identity];
    const wallet = await walletOf(chain, client, subject);
    const indexes = await checkIndexes(client, info.blocks, subject);
    const publisher = await publisherOf(chain, place, subject, logger);
    return [identity, ...progressOf(info, subject), ...indexes, wallet, publisher];
  } catch (error) {
    return [failed(error, mendOf(error, chain))];
  } finally {
    await client.close();
  }
}

function mendOf(error: unknown, { name }: ChainConfig): string {
  if (error instanceof DaemonAuthFailed) return `give the chain ${name} the rpcuser and rpcpassword of this daemon`;
  if (error instanceof DaemonWarmingUp) return 'wait until the daemon has loaded its index';
  if (error instanceof DaemonRpcError) return 'use a daemon of Verus, whose getinfo says which chain it follows';
  return 'start the daemon, and let its rpcport, rpcbind and rpcallowip admit this machine';
}

function identityOf(chain: ChainConfig, info: DaemonInfo, address: string, subject: string): Finding {
  const { right, note, wrong } = findingsOf(subject);
  const expected = nativeCurrencyId(chain);
  if (info.chainid !== expected) {
    return wrong(
      `${address} follows ${info.name} (${info.chainid}) instead of ${chain.rootCurrency} (${expected})`,
      `give the chain ${chain.name} the address of its own daemon, or correct rootCurrency and networkRoot`,
    );
  }
  const version = info.VRSCversion ?? 'an unnamed version';
  const says = `${address} follows ${info.name}, version ${version}`;
  if (info.errors) return note(`${says}; it warns: ${info.errors}`, 'do what the daemon asks for');
  if (isOlder(version, TESTED_VERSION)) {
    return note(`${says}, older than ${TESTED_VERSION}, the oldest tested version`, 'upgrade the daemon');
  }
  return right(says);
}

/** Compares the numbers of two versions: `1.2.9-1` is older than `1.2.16`. A text that is not a version is not older. */
function isOlder(version: string, than: string): boolean {
  const [mine, theirs] = [version, than].map((text) => text.split(/[.-]/).map(Number));
  if (!mine || !theirs || mine.some(Number.isNaN)) return false;
  const at = theirs.findIndex((part, index) => part !== (mine[index] ?? 0));
  return at !== -1 && (mine[at] ?? 0) < (theirs[at] ?? 0);
}

function progressOf(info: DaemonInfo, subject: string): Finding[] {
  const { right, note, wrong } = findingsOf(subject);
  const findings: Finding[] = [];
  const longest = Math.max(info.longestchain ?? 0, info.blocks);
  if (longest > info.blocks) {
    const says = `at block ${info.blocks} of ${longest}: it is still syncing`;
    findings.push(note(says, 'nothing; the service follows it, and is ready once both are in sync'));
  } else findings.push(right(`at block ${info.blocks}, as far as its peers`));

  const peers = info.connections ?? 0;
  if (peers > 0) findings.push(right(`${peers} peers`));
  else if (info.testnet) findings.push(note('no peers: on a test chain it may be alone'));
  else findings.push(wrong('no peers, so it receives no blocks', 'open its p2p port, or give it an addnode'));

  const offset = info.timeoffset ?? 0;
  if (Math.abs(offset) > MOST_CLOCK_SECONDS) {
    const says = `its clock is ${Math.abs(offset)} s ${offset > 0 ? 'behind' : 'ahead of'} the clocks of its peers`;
    findings.push(wrong(says, "set the machine's clock by NTP"));
  }
  return findings;
}

/** Checks only the connection, which succeeds even if the publisher does not announce blocks. */
async function publisherOf(chain: ChainConfig, place: number, subject: string, logger: Logger): Promise<Finding> {
  const { right, note, wrong, failed } = findingsOf(subject);
  const address = [chain.zmq ?? null].flat()[place - 1] ?? null;
  if (address === null) {
    const mend = `publish by zmqpubhashblock=tcp://127.0.0.1:port, and give the address as zmq of ${chain.name}`;
    return note('no ZMQ publisher is configured: it is polled for new blocks, at most four times a second', mend);
  }
  const mend = `start the daemon with zmqpubhashblock=${address}, or correct zmq of ${chain.name}`;
  try {
    const { name, blockSeconds } = chain;
    const heard = await openZmqNotifications({ chain: name, addresses: [address], blockSeconds, logger });
    const isReached = () => heard.publishers()[0]?.state !== 'unreachable';
    const tries = TIMEOUT_MS / LOOK_MS;
    for (let tried = 0; tried < tries && !isReached(); tried += 1) await sleep(LOOK_MS);
    const reached = isReached();
    await heard.close();
    if (!reached) return wrong(`no ZMQ publisher at ${address}: the chain is polled`, mend);
    return right(`a ZMQ publisher at ${address}; after the next block, \`status\` shows whether it announces blocks`);
  } catch (error) {
    return failed(error, `nothing; the ZMQ binding does not load on this machine, and ${chain.name} is polled`);
  }
}

async function walletOf(chain: ChainConfig, client: VerusdClient, subject: string): Promise<Finding> {
  const { right, wrong, failed } = findingsOf(subject);
  try {
    const { exists, holds } = await askWallet(client, AbortSignal.timeout(WALLET_MS));
    if (!exists) return right('no wallet');
    if (holds.length === 0) return right('its wallet is empty');
    const served = chain.requireEmptyWallet
      ? 'methods that touch it are not served'
      : 'callers of JSON-RPC can see some of its contents';
    return wrong(
      `its wallet holds ${holds.join(' and ')}: ${served}`,
      'start it with disablewallet=1, or with a wallet of its own that stays empty',
    );
  } catch (error) {
    return failed(error, 'let the JSON-RPC user call getwalletinfo and z_listaddresses');
  }
}
