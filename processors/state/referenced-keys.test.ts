import { expect, test } from 'vitest';
import type { Fact } from '../../schemas/facts.ts';
import { block, decodedAs, output, payTo, transaction } from '../../test/support/processors/blocks.ts';
import { RECORDED_CHAIN } from '../../test/support/processors/recorded-chain.ts';
import { foldRecording } from '../../test/support/processors/recorded-fold.ts';
import { deriveBlock } from '../derive-block.ts';
import type { ChainState, MutableChainState } from './chain-state.ts';
import { createMemoryState } from './memory-state.ts';
import { referencedKeys } from './referenced-keys.ts';

/** A new state with the entries of `whole` that `keys` of the block name, as a store would load them. */
function preload(keys: ReturnType<typeof referencedKeys>, whole: ChainState): MutableChainState {
  const state = createMemoryState(whole.chain);
  state.setTip(whole.tip);
  const addresses = new Set(keys.addresses);
  for (const { txid, n } of keys.outpoints) {
    const spent = whole.output(txid, n);
    if (!spent) continue;
    state.put(spent);
    for (const address of spent.addresses) addresses.add(address);
    const transfer = whole.transfer(txid, n);
    if (transfer) state.put(transfer);
  }
  for (const made of keys.exports.flatMap(({ txid, vout }) => whole.export(txid, vout) ?? [])) {
    state.put(made);
    for (const { txid, vout } of made.transfers) {
      const transfer = whole.transfer(txid, vout);
      if (transfer) state.put(transfer);
    }
  }
  for (const id of keys.identityAddresses.flatMap((address) => whole.identity(address) ?? [])) state.put(id);
  for (const currency of keys.currencyIds.flatMap((id) => whole.currency(id) ?? [])) state.put(currency);
  for (const currencyState of whole.currencyStates()) state.put(currencyState);
  const held = [...addresses].flatMap((address) => currencies.map((currencyId) => ({ address, currencyId })));
  for (const { address, currencyId } of held) {
    const balance = whole.balance(address, currencyId);
    if (balance) state.put(balance);
  }
  return state;
}

const { all, derived } = foldRecording();
const currencies = [...new Set(all('balance').map(({ currencyId }) => currencyId))];

test('every recorded block derives the same from its referenced keys as from the whole state', () => {
  const whole = createMemoryState(RECORDED_CHAIN);
  for (const { block: recorded, facts } of derived) {
    const alone = preload(referencedKeys(recorded), whole);
    const derivedAlone: Fact[] = deriveBlock(recorded, alone);
    expect(derivedAlone, `block ${recorded.height}`).toEqual(facts);
    deriveBlock(recorded, whole);
  }
});

test('each key is listed once; outputs that the block itself makes are left out', () => {
  const identity = decodedAs('identityprimary', '{"identityaddress":"iA","parent":"iP"}', ['iA', 'iA']);
  const definition = decodedAs('currencydefinition', '{"currencyid":"iC","parent":"iP"}');
  const executed = (txid: string) => decodedAs('crosschainimport', `{"exporttxid":"${txid}","exporttxout":4}`);
  const made = block(1, [
    transaction('a', [], [output(0, '1', payTo('RX'))]),
    transaction('b', ['a:0', 'x:3'], [output(0, '1', identity), output(1, '0', identity), output(2, '0', definition)]),
    transaction(
      'c',
      ['x:4'],
      [executed('e'), executed('e'), executed('b'), executed('0'.repeat(64))].map((script, n) =>
        output(n, '0', script),
      ),
    ),
  ]);
  expect(referencedKeys(made)).toEqual({
    outpoints: [
      { txid: 'x', n: 3 },
      { txid: 'x', n: 4 },
    ],
    addresses: ['RX', 'iA'],
    identityAddresses: ['iA'],
    currencyIds: ['iP', 'iC'],
    exports: [{ txid: 'e', vout: 4 }],
  });
});
