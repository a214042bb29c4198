/** A daemon without faults; `check` finds only what a test breaks. */
import { type ScriptedDaemon, startScriptedDaemon } from '../../infra/verusd/scripted-daemon.ts';

const ADDRESS = 'RCdXBieidGuXmK8Tw2gBoXWxi16UgqyKc7';
export const TESTED = '1.2.16-1';

type Methods = Readonly<Record<string, (params: readonly unknown[]) => unknown>>;

export const GOOD_INFO = {
  VRSCversion: TESTED,
  name: 'VRSC',
  chainid: 'i5w5MuNik5NtLcYmNzcvaoixooEebB6MGV',
  blocks: 2_000_000,
  longestchain: 2_000_000,
  connections: 8,
  timeoffset: 0,
  testnet: false,
  errors: '',
};

const EMPTY_WALLET = { walletversion: 60000, balance: 0, unconfirmed_balance: 0, immature_balance: 0 };

/** A block with one reward and one stake, as the daemon prints it. */
const blockAt = (height: number) => ({
  height,
  tx: [
    { txid: `reward-${height}`, vin: [{ coinbase: '00' }], vout: [{ scriptPubKey: { addresses: [ADDRESS] } }] },
    { txid: `stake-${height}`, vin: [{ txid: 'earlier', vout: 0, valueSat: 100 }], vout: [{ scriptPubKey: {} }] },
  ],
});

export const GOOD_METHODS: Methods = {
  getinfo: () => GOOD_INFO,
  getwalletinfo: () => EMPTY_WALLET,
  z_listaddresses: () => [],
  getblock: ([height]) => blockAt(Number(height)),
  getaddresstxids: ([query]) => [`reward-${(query as { start: number }).start}`],
  getidentitieswithaddress: () => [],
};

export function startGoodDaemon(methods: Methods = {}): Promise<ScriptedDaemon> {
  return startScriptedDaemon({ methods: { ...GOOD_METHODS, ...methods } });
}
