/**
 * A scripted double of a user's own daemon with a wallet: the recording has no funding and no signing. Its script contains what it knows
 * of the chain. It parses unsigned updates itself, reports a fee without paying it, and signs by returning a recorded transaction.
 */
import { createDaemonServer } from '../../recordings/player/daemon-server.ts';
import { RpcFailure } from '../../recordings/player/rpc-failure.ts';

export interface WalletScript {
  /** Newest states, as getidentity with the mempool answers: results by name. */
  readonly identities: Readonly<Record<string, string>>;
  readonly blocks: number;
  /** The transaction that signing returns, with its txid. */
  readonly signed: { readonly hex: string; readonly txid: string };
  readonly fee: string;
  /** Whether one signature is enough. */
  readonly complete: boolean;
}

export interface WalletDouble {
  readonly url: string;
  readonly methods: string[];
  script: WalletScript;
  stop(): Promise<void>;
}

const EXPIRY_HEIGHT_FROM_END = 15;

/** Parses a transaction with one input and one output, the identity. */
function readUpdate(hex: string) {
  const bytes = Buffer.from(hex, 'hex');
  const inputAt = 9; // version, group, count
  const txid = Buffer.from(bytes.subarray(inputAt, inputAt + 32))
    .reverse()
    .toString('hex');
  const outputAt = bytes.indexOf(Buffer.from('ffffffff01', 'hex'), inputAt + 36) + 5;
  const marked = bytes[outputAt + 8] === 0xfd;
  const length = marked ? bytes.readUInt16LE(outputAt + 9) : (bytes[outputAt + 8] ?? 0);
  const scriptAt = outputAt + (marked ? 11 : 9);
  const script = bytes.subarray(scriptAt, scriptAt + length);
  const keyAt = script.indexOf(Buffer.from('04030e010115', 'hex')) + 27;
  const long = script[keyAt] === 0x4d;
  const size = long ? script.readUInt16LE(keyAt + 1) : (script[keyAt + 1] ?? 0);
  const identity = script.subarray(keyAt + (long ? 3 : 2), keyAt + (long ? 3 : 2) + size);
  return {
    txid,
    vout: bytes.readUInt32LE(inputAt + 32),
    expiry: bytes.readUInt32LE(bytes.length - EXPIRY_HEIGHT_FROM_END),
    script: script.toString('hex'),
    flags: identity.readUInt32LE(4),
    primaryAddresses: identity[8] ?? 0,
    timelock: identity.readUInt32LE(identity.length - 4),
  };
}

export async function startWalletDouble(login: { readonly user: string; readonly password: string }) {
  const methods: string[] = [];
  const double = { methods, script: {} as WalletScript };

  function decode(hex: string, { identities, signed }: WalletScript): unknown {
    if (hex === signed.hex) return { txid: signed.txid };
    const { txid, vout, expiry, script, flags, primaryAddresses, timelock } = readUpdate(hex);
    const states = Object.values(identities).map((state) => JSON.parse(state));
    const known = states.find((state) => state.txid === txid) ?? states[0];
    const keys: string[] = known.identity.primaryaddresses;
    const identityprimary = {
      ...known.identity,
      flags,
      timelock,
      // Addresses other than the known ones are not parsed, only shown to be others.
      primaryaddresses: keys.length === primaryAddresses ? keys : Array(primaryAddresses).fill('R…'),
    };
    const scriptPubKey = { type: 'cryptocondition', identityprimary, hex: script };
    return {
      txid: '',
      locktime: 0,
      expiryheight: expiry,
      vin: [{ txid, vout }],
      vout: [{ value: 0, valueSat: 0, n: 0, scriptPubKey }],
    };
  }

  const server = createDaemonServer({
    ...login,
    faults: () => ({}),
    random: () => 0,
    onRequest: () => {},
    call(method, params) {
      methods.push(method);
      const { script } = double;
      const [first] = JSON.parse(params) as [string];
      if (method === 'getblockchaininfo') return JSON.stringify({ blocks: script.blocks });
      if (method === 'getidentity') return script.identities[first] ?? 'null';
      if (method === 'decoderawtransaction') return JSON.stringify(decode(first, script));
      if (method === 'fundrawtransaction') return `{"hex":"${first}","changepos":1,"fee":${script.fee}}`;
      if (method === 'signrawtransaction') {
        return JSON.stringify({
          hex: script.signed.hex,
          complete: script.complete,
          ...(!script.complete && { errors: [] }),
        });
      }
      throw new RpcFailure(-32601, `Method ${method} not found`);
    },
  });
  await server.listen(0, '127.0.0.1');
  const url = `http://${login.user}:${encodeURIComponent(login.password)}@127.0.0.1:${server.address().port}`;
  return Object.assign(double, { url, stop: () => server.close() }) satisfies WalletDouble;
}
