/** The tables of the data set that hold facts, with what each column means. */
import { ACTIVITY } from '../facts/activity.ts';
import { BLOCK } from '../facts/block.ts';
import { CURRENCY } from '../facts/currency.ts';
import { CURRENCY_STATE } from '../facts/currency-state.ts';
import { IDENTITY } from '../facts/identity.ts';
import { REWARD } from '../facts/reward.ts';
import { TRANSACTION } from '../facts/transaction.ts';
import { TRANSFER } from '../facts/transfer.ts';
import { copiedTable, storedTable } from './table.ts';

const FINAL = 'With its block: once `finalityDepth` blocks stand on it.';
const PLACE = {
  txid: 'Transaction.',
  vout: 'Output of the transaction.',
  txIndex: 'Place of the transaction in its block.',
} as const;

const TRANSFER_TEXTS = {
  txid: 'Transaction that asked for it; of a transfer that came from another chain, of its export.',
  vout: 'Output that asked for it; of a transfer that came from another chain, 65,536 × the export’s output + its place in the export.',
  kind: '`convert`, `via` (over a basket into another reserve), `preconvert`, `mint`, `burn` or `send`.',
  status: 'After the block: `pending`, `exported`, `completed`, `refunded` or `unmatched`.',
  flags: 'Flags of the reserve transfer, as the daemon counts them.',
  fromCurrencyId: 'Currency that was given; null for a mint.',
  toCurrencyId: 'Currency that was asked for.',
  viaCurrencyId: 'Basket between two of its reserves; null but for `via`.',
  importCurrencyId: 'Currency whose import executes it.',
  amountIn: 'What was given, the conversion fee included, the transfer fee not.',
  transferFee: 'Fee of the transfer.',
  transferFeeCurrencyId: 'Currency of that fee.',
  conversionFee: 'Fee of the conversion in the currency that was given, of both legs of a `via`.',
  amountOut: 'What was paid; null while pending and when refunded, 0 for a burn and for dust.',
  destination: 'Address that is paid; null where there is none.',
  source: 'First address of the first output that the request spent; null where there is none.',
  destinationSystemId: 'Next system of a transfer to another chain, or next leg.',
  importSystemId: 'Other system that executes it; null where this chain does.',
  sourceSystemId: 'Other system that it came from; null where it was asked for here.',
  requestHeight: 'Block of the request; of a transfer that came from another chain, of the import that brought it.',
  requestTime: 'Time of that block.',
  exportTxid: 'Export that gathered it; null before.',
  exportVout: 'Output of the export.',
  exportIndex: 'Place among the transfers of the export.',
  exportHeight: 'Block of the export.',
  importTxid: 'Import that executed it; null before.',
  importHeight: 'Block of the import.',
  importTime: 'Time of that block.',
  payoutVout: 'Output of the import that paid or refunded it; null for a burn and for dust.',
  reason: 'Why the status is `unmatched`.',
} as const;
const VERSIONS =
  'One row for each block that changed it, so a later row of the same key replaces an earlier one: of (chain, txid, vout) the row with the greatest height counts.';

export const FACT_TABLES = [
  storedTable(
    BLOCK,
    'blocks',
    {
      hash: 'Hash of the block.',
      clock:
        'Greatest time of a block of the chain up to this one: it never steps back, and its UTC day says in which file a block’s rows are.',
      size: 'Bytes.',
      txCount: 'Transactions, the coinbase included.',
      validationType: '`work` or `stake`.',
      difficulty: 'Difficulty as the daemon prints it.',
      reward: 'Outputs of the coinbase without the fee pool.',
      minerAddress: 'Address that the coinbase pays first; null where there is none.',
      fees: 'Fees of the block’s transactions.',
      'stake.amount': 'Coins that staked; null for a block of work.',
      feePool: 'Coins in the fee pool’s output; null where there is none.',
      transparentChange: 'Coins of the outputs made less those spent: summed up to a height, the transparent supply.',
      shieldedSupply: 'Coins in shielded pools after the block; null where the daemon does not tell.',
    },
    { name: 'blocks', summary: 'Blocks.', final: FINAL, order: ['height'] },
  ),
  storedTable(
    TRANSACTION,
    'transactions',
    {
      ...PLACE,
      kind: 'What it does: the first that fits of the kinds of `/api/tx/:txid`.',
      fee: 'Fee in the native coin; null for a coinbase and for an import.',
      size: 'Bytes.',
    },
    { name: 'transactions', summary: 'Transactions.', final: FINAL, order: ['height', 'tx_index'] },
  ),
  storedTable(
    ACTIVITY,
    'address_deltas',
    {
      ...PLACE,
      address: 'Address.',
      currencyId: 'Currency; the native coin under its own id.',
      received: 'What the transaction’s outputs brought it.',
      sent: 'What the transaction’s inputs took from it.',
    },
    {
      name: 'balance_deltas',
      summary:
        'What each transaction did to the balance of each address, by currency: the sum of `received` − `sent` up to a height is the balance there.',
      final: FINAL,
      order: ['height', 'tx_index', 'address', 'currency_id'],
    },
  ),
  copiedTable(
    CURRENCY,
    {
      ...PLACE,
      currencyId: 'Currency.',
      name: 'Name.',
      fullyQualifiedName: 'Name as `getcurrency` prints it.',
      parent: 'Currency under whose name it stands; null on top.',
      systemId: 'System that it belongs to.',
      currencyType: '`native`, `token`, `basket`, `pbaas_chain`, `gateway` or `mapped`.',
      options: 'Options, as the daemon counts them.',
      startBlock: 'Block of its launch.',
      definition: 'The definition as the daemon printed it, JSON.',
    },
    {
      name: 'currencies',
      summary:
        'Definitions of currencies, for their names and kinds; of a currency the row with the greatest height counts.',
      final: FINAL,
      order: ['height', 'currency_id', 'tx_index', 'vout'],
    },
  ),
  storedTable(
    CURRENCY_STATE,
    'currency_states',
    {
      ...PLACE,
      currencyId: 'Currency.',
      flags: 'Flags of the state, as the daemon counts them.',
      supply: 'Supply of the currency.',
      reserves: 'Reserves of a basket',
    },
    {
      name: 'currency_states',
      summary: 'State of a currency after each import; several of a block in the order of `tx_index` and `vout`.',
      final: FINAL,
      order: ['height', 'tx_index', 'vout', 'currency_id'],
    },
  ),
  storedTable(
    IDENTITY,
    'identity_updates',
    {
      ...PLACE,
      identityAddress: 'Identity.',
      name: 'Name.',
      parent: 'Currency under whose name it stands.',
      kind: 'What the update did, such as `registered`, `keys_changed`, `revoked`.',
      flags: 'Flags, as the daemon counts them.',
      timelock: 'Time lock, as the daemon prints it.',
      referral: 'Identity that referred it; null where none did.',
      changes: 'Difference from the state before, JSON: `[{"field","old","new"}]`.',
      state: 'The identity as the daemon printed it, JSON.',
    },
    {
      name: 'identity_states',
      summary: 'Every state that an identity was given, with the difference from the one before.',
      final: FINAL,
      order: ['height', 'tx_index', 'vout', 'identity_address'],
    },
  ),
  copiedTable(
    REWARD,
    { ...PLACE, address: 'Address that is paid.', kind: '`mining` or `staking`.', amount: 'What it is paid.' },
    {
      name: 'rewards',
      summary: 'Outputs of coinbases that pay an address.',
      final: FINAL,
      order: ['height', 'txid', 'vout', 'address'],
    },
  ),
  copiedTable(TRANSFER, TRANSFER_TEXTS, {
    name: 'transfers',
    summary: `Reserve transfers: sends, conversions, mints, burns. ${VERSIONS}`,
    final: FINAL,
    order: ['height', 'txid', 'vout'],
  }),
  copiedTable(TRANSFER, TRANSFER_TEXTS, {
    name: 'bridge',
    summary: `Those of the transfers that go to or come from another system, contributions to a launch too. ${VERSIONS}`,
    final: FINAL,
    order: ['height', 'txid', 'vout'],
    where: '(r.import_system_id IS NOT NULL OR r.source_system_id IS NOT NULL)',
  }),
] as const;
