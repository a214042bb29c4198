/** JSON-RPC in front of the recorded node, with the index that a completed derivation of the recording would have. */
import { pino } from 'pino';
import { createIdentityHistory } from '../../../../api/rpc/identity-history.ts';
import { createRpcHandler, type RpcAnswer, type RpcHandler } from '../../../../api/rpc/rpc-handler.ts';
import type { BlockRef } from '../../../../domain/block-ref.ts';
import { elementTexts, rawMember } from '../../../../domain/json/raw-json.ts';
import { nameToAddress } from '../../../../domain/names.ts';
import { type CopyValue, copyRows } from '../../../../infra/postgres/copy.ts';
import type { Postgres } from '../../../../infra/postgres/postgres.ts';
import { createVerusdClient } from '../../../../infra/verusd/verusd-client.ts';
import type { ReceivedRequest } from '../../../../recordings/player/daemon-server.ts';
import { readGzip, readLines } from '../../../../recordings/player/read-lines.ts';
import { answerOf, readCases } from '../../../../recordings/player/recorded-calls.ts';
import { type RecordedNode, startRecordedNode } from '../../../../recordings/player/recorded-node.ts';
import { createTestStores } from '../../infra/test-stores.ts';
import { poolRows } from '../pool-rows.ts';

export const RECORDING = new URL('../../../../recordings/private-network/', import.meta.url).pathname;
export const CHAIN = 'vrsc';

export interface RecordedService {
  readonly node: RecordedNode;
  readonly handler: RpcHandler;
  readonly postgres: Postgres;
  /** Every request that the node received. */
  readonly received: ReceivedRequest[];
  /** Sets the newest block of the index; null means the node's. */
  showTip(tip: BlockRef | null): void;
  post(body: string | Uint8Array): Promise<{ readonly status: number; readonly text: string }>;
  stop(): Promise<void>;
}

export const textOf = ({ body, end = '' }: Pick<RpcAnswer, 'body' | 'end'>): string =>
  `${Buffer.from(body).toString('utf8')}${end}`;

export async function startRecordedService(): Promise<RecordedService> {
  const logger = pino({ level: 'silent' });
  const received: ReceivedRequest[] = [];
  const onRequest = (request: ReceivedRequest) => received.push(request);
  const node = await startRecordedNode({ folder: RECORDING, user: 'user', password: 'password', onRequest });
  const stores = await createTestStores();
  await fillIndex(stores.postgres);
  let tip: BlockRef | null = null;
  const client = createVerusdClient({ rpc: node.url, chain: CHAIN, logger });
  const handler = createRpcHandler({
    chains: [
      {
        name: CHAIN,
        rootCurrency: 'VRSCTEST',
        networkRoot: 'VRSCTEST',
        finalityDepth: 100,
        blockSeconds: 60,
        requireEmptyWallet: false,
      },
    ],
    tip: () => tip ?? { height: node.height, hash: node.hash },
    daemons: new Map([[CHAIN, client]]),
    postgres: stores.postgres,
    nameToAddress,
    extensions: {
      getidentityhistory: createIdentityHistory(
        (work) => work(poolRows(stores.postgres)),
        (_, name) => nameToAddress(name, 'VRSCTEST'),
      ),
    },
    logger,
  });
  return {
    node,
    handler,
    postgres: stores.postgres,
    received,
    showTip(shown) {
      tip = shown;
    },
    async post(body) {
      const answer = await handler(CHAIN, typeof body === 'string' ? Buffer.from(body) : body);
      return { status: answer.status, text: textOf(answer) };
    },
    async stop() {
      await client.close();
      await stores.close();
      await node.stop();
    },
  };
}

const parsed = <T>(text: string | undefined): T => JSON.parse(text ?? 'null') as T;

type Row = Readonly<Record<string, CopyValue>>;

async function fillIndex(postgres: Postgres): Promise<void> {
  const tables = { blocks: [...blockRows()], identities: [...identityRows()], currencies: [...currencyRows()] };
  await postgres.transaction(async (client) => {
    for (const [table, rows] of Object.entries(tables)) {
      await copyRows(
        client,
        table,
        Object.keys(rows[0] ?? {}),
        rows.map((row) => Object.values(row)),
      );
    }
  });
}

interface Header {
  readonly hash: string;
  readonly height: number;
  readonly time: number;
  readonly validationtype: string;
  readonly chainwork: string;
  readonly chainstake: string;
  readonly merkleroot: string;
}

function* blockRows(): Generator<Row> {
  for (const line of readLines(`${RECORDING}/blocks.jsonl.gz`)) {
    const header = parsed<Header>(rawMember(line.toString('utf8'), 'header'));
    yield {
      chain: CHAIN,
      height: header.height,
      hash: { hex: header.hash },
      time: header.time,
      clock: header.time,
      size: 0,
      tx_count: 1,
      validation_type: header.validationtype,
      difficulty: '1',
      bits: '',
      nonce: '',
      version: 4,
      merkle_root: { hex: header.merkleroot },
      chain_work: { hex: header.chainwork },
      chain_stake: { hex: header.chainstake },
      reward: 0n,
      fees: 0n,
      position: header.height,
    };
  }
}

/** The recorded definitions of currencies, once each. */
function* currencyRows(): Generator<Row> {
  const seen = new Set<string>();
  for (const recorded of readCases(RECORDING)) {
    if (!recorded.name.startsWith('getcurrency/') || !('body' in recorded)) continue;
    const answer = answerOf(recorded.body);
    if (!('result' in answer) || answer.result === 'null') continue;
    const { currencyid, name, fullyqualifiedname, systemid, startblock } = parsed<Currency>(answer.result);
    if (seen.has(currencyid)) continue;
    seen.add(currencyid);
    yield {
      chain: CHAIN,
      currency_id: currencyid,
      from_height: 0,
      to_height: null,
      tx_index: 0,
      vout: 0,
      txid: { hex: '' },
      name,
      fully_qualified_name: fullyqualifiedname,
      parent: null,
      system_id: systemid,
      currency_type: 'token',
      options: 0,
      start_block: startblock,
      definition: { json: answer.result },
      position: 0,
    };
  }
}

interface Currency {
  readonly currencyid: string;
  readonly name: string;
  readonly fullyqualifiedname: string;
  readonly systemid: string;
  readonly startblock: number;
}

interface IdentityState {
  readonly name: string;
  readonly parent: string;
  readonly flags: number;
  readonly timelock: number;
  readonly revocationauthority: string;
  readonly recoveryauthority: string;
  readonly primaryaddresses: readonly string[];
  readonly minimumsignatures: number;
}

function* identityRows(): Generator<Row> {
  for (const identity of elementTexts(readGzip(`${RECORDING}/truth/identities.json.gz`))) {
    const states = elementTexts(rawMember(rawMember(identity, 'history') ?? '{}', 'history') ?? '[]');
    const heights = states.map((state) => parsed<number>(rawMember(state, 'height')));
    for (const [index, text] of states.entries()) {
      const state = rawMember(text, 'identity') ?? '{}';
      const fields = parsed<IdentityState>(state);
      const output = parsed<{ txid: string; voutnum: number }>(rawMember(text, 'output'));
      yield {
        chain: CHAIN,
        identity_address: parsed<string>(rawMember(identity, 'id')),
        from_height: heights[index] ?? 0,
        to_height: heights[index + 1] ?? null,
        tx_index: index,
        vout: output.voutnum,
        txid: { hex: output.txid },
        name: fields.name,
        parent: fields.parent,
        fully_qualified_name: fields.name,
        kind: 'other',
        flags: fields.flags,
        timelock: fields.timelock,
        revocation_authority: fields.revocationauthority,
        recovery_authority: fields.recoveryauthority,
        primary_addresses: fields.primaryaddresses,
        minimum_signatures: fields.minimumsignatures,
        registered_height: heights[0] ?? 0,
        changes: { json: '[]' },
        state: { json: state },
        position: heights[index] ?? 0,
      };
    }
  }
}
