import { expect, it } from 'vitest';
import { block, decodedAs, output, payTo, transaction } from '../../test/support/processors/blocks.ts';
import { RECORDED_CHAIN } from '../../test/support/processors/recorded-chain.ts';
import { deriveBlock } from '../derive-block.ts';
import { createMemoryState } from '../state/memory-state.ts';

const VRSCTEST = RECORDED_CHAIN.nativeCurrencyId;
const STAKER = 'i7A84fM6EezqceBCepFvw72jkycTU2Y7wz';
const txid = (digit: string) => digit.repeat(64);
const request = decodedAs(
  'reservetransfer',
  JSON.stringify({
    version: 1,
    currencyvalues: { [VRSCTEST]: 1.5 },
    flags: 3,
    feecurrencyid: VRSCTEST,
    fees: 0.0002,
    destinationcurrencyid: 'iBasket',
    destination: { address: 'RJGY', type: 2 },
  }),
  ['RTqQe58LSj2yr5CrwYFwcsAQ1edQwmrkUU'],
);

it.each([
  ['of the person behind the key of the protocol', ['RCG8KwJNDVwpUBcdoa6AoHqHVJsA1uMYMR', STAKER], STAKER],
  ['of the first of several', [STAKER, 'RX'], STAKER],
  ['none, when only a key of the protocol had it', ['RCG8KwJNDVwpUBcdoa6AoHqHVJsA1uMYMR'], null],
])('the source of a transfer is that of the first coin spent: %s', (_, addresses, source) => {
  const state = createMemoryState(RECORDED_CHAIN);
  const empty = (digit: string) => transaction(txid(digit), [], [output(0, '0', payTo('RX'))]);
  deriveBlock(block(0, [empty('0')]), state);
  deriveBlock(
    block(1, [transaction(txid('1'), [], [output(0, '808742614', decodedAs('stakeguard', '""', addresses))])]),
    state,
  );
  const asked = transaction(txid('3'), [`${txid('1')}:0`], [output(0, '150020000', request)]);
  const facts = deriveBlock(block(2, [empty('2'), asked]), state);
  expect(facts.filter(({ type }) => type === 'transfer')).toEqual([expect.objectContaining({ source })]);
});
