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

const PLACE = {
  txid: 'Transaction.',
  vout: 'Output of the transaction.',
  txIndex: 'Position of the transaction in its block.',
} as const;

const TRANSFER_TEXTS = {
  txid: 'Transaction of the request; for a transfer from another chain, that of its export.',
  vout: 'Output of the request; for a transfer from another chain, 65,536 × the export’s output + the position in the export.',
  kind: '`convert`, `via` (through a basket into another reserve), `preconvert`, `mint`, `burn` or `send`.',
  status: 'After the block: `pending`, `exported`, `completed`, `refunded` or `unmatched`.',
  flags: 'Flags of the reserve transfer, as in the daemon.',
  fromCurrencyId: 'Currency of the input; null for a mint.',
  toCurrencyId: 'Currency of the output.',
  viaCurrencyId: 'Basket between the two reserves; null except for `via`.',
  importCurrencyId: 'Currency whose import executes the transfer.',
  amountIn: 'Amount of the input, with the conversion fee, without the transfer fee.',
  transferFee: 'Fee of the transfer.',
  transferFeeCurrencyId: 'Currency of that fee.',
  conversionFee: 'Fee of the conversion in the currency of the input; for a `via`, of both legs.',
  amountOut: 'Amount paid out; null while pending and when refunded, 0 for a burn and for dust.',
  destination: 'Address that is paid; null if there is none.',
  source: 'First address of the first output that the request spent; null if there is none.',
  destinationSystemId: 'Next system of a transfer to another chain, or of its next leg.',
  importSystemId: 'Other system that executes the transfer; null if this chain does.',
  sourceSystemId: 'Other system that the transfer came from; null if it was requested on this chain.',
  requestHeight: 'Block of the request; for a transfer from another chain, that of its import.',
  requestTime: 'Time of that block.',
  exportTxid: 'Export that collected the transfer; null before.',
  exportVout: 'Output of the export.',
  exportIndex: 'Position among the transfers of the export.',
  exportHeight: 'Block of the export.',
  importTxid: 'Import that executed the transfer; null before.',
  importHeight: 'Block of the import.',
  importTime: 'Time of that block.',
  payoutVout: 'Output of the import that paid or refunded the transfer; null for a burn and for dust.',
  reason: 'Why the status is `unmatched`.',
} as const;
const VERSIONS =
  'One row for each block that changed the transfer: of the rows with the same (chain, txid, vout), the row with the greatest height counts.';

export const FACT_TABLES = [
  storedTable(
    BLOCK,
    'blocks',
    {
      hash: 'Hash of the block.',
      clock:
        'Greatest block time of the chain up to this block. It never goes back, and its UTC day determines the file of the block’s rows.',
      size: 'Bytes.',
      txCount: 'Transactions, the coinbase included.',
      validationType: '`work` or `stake`.',
      difficulty: 'Difficulty as the daemon prints it.',
      reward: 'Sum of the coinbase’s outputs, without the fee pool.',
      minerAddress: 'First address that the coinbase pays; null if there is none.',
      fees: 'Fees of the block’s transactions.',
      'stake.amount': 'Coins that staked; null for a proof-of-work block.',
      feePool: 'Coins in the fee pool’s output; null if there is none.',
      transparentChange:
        'Coins of the created outputs minus the spent outputs; the sum up to a height is the transparent supply.',
      shieldedSupply: 'Coins in shielded pools after the block; null if the daemon does not report them.',
    },
    { name: 'blocks', summary: 'Blocks.', order: ['height'] },
  ),
  storedTable(
    TRANSACTION,
    'transactions',
    {
      ...PLACE,
      kind: 'Kind of the transaction: the first kind in `/api/tx/:txid` that applies.',
      fee: 'Fee in the native coin; null for a coinbase and for an import.',
      size: 'Bytes.',
    },
    { name: 'transactions', summary: 'Transactions.', order: ['height', 'tx_index'] },
  ),
  storedTable(
    ACTIVITY,
    'address_deltas',
    {
      ...PLACE,
      address: 'Address.',
      currencyId: 'Currency; the native coin under its own id.',
      received: 'Amount that the transaction’s outputs paid to the address.',
      sent: 'Amount that the transaction’s inputs spent from the address.',
    },
    {
      name: 'balance_deltas',
      summary:
        'Changes of the balance of each address by each transaction and currency. The sum of `received` − `sent` up to a height is the balance at that height.',
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
      parent: 'Currency that is the parent in the name; null at the top.',
      systemId: 'System of the currency.',
      currencyType: '`native`, `token`, `basket`, `pbaas_chain`, `gateway` or `mapped`.',
      options: 'Options, as in the daemon.',
      startBlock: 'Block of the launch.',
      definition: 'The definition as the daemon printed it, JSON.',
    },
    {
      name: 'currencies',
      summary:
        'Definitions of currencies, with their names and kinds. For each currency, the row with the greatest height counts.',
      order: ['height', 'currency_id', 'tx_index', 'vout'],
    },
  ),
  storedTable(
    CURRENCY_STATE,
    'currency_states',
    {
      ...PLACE,
      currencyId: 'Currency.',
      flags: 'Flags of the state, as in the daemon.',
      supply: 'Supply of the currency.',
      reserves: 'Reserves of a basket',
    },
    {
      name: 'currency_states',
      summary:
        'State of a currency after each import. Several states in one block are ordered by `tx_index` and `vout`.',
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
      parent: 'Currency that is the parent in the name.',
      kind: 'Kind of the update, such as `registered`, `keys_changed`, `revoked`.',
      flags: 'Flags, as in the daemon.',
      timelock: 'Time lock, without the sign with which the daemon prints 2^31 and more.',
      referral: 'Identity of the referrer; null if there is none.',
      changes: 'Differences from the previous state, JSON: `[{"field","old","new"}]`.',
      state: 'The identity as the daemon printed it, JSON.',
    },
    {
      name: 'identity_states',
      summary: 'Every state of every identity, with its differences from the previous state.',
      order: ['height', 'tx_index', 'vout', 'identity_address'],
    },
  ),
  copiedTable(
    REWARD,
    { ...PLACE, address: 'Address that is paid.', kind: '`mining` or `staking`.', amount: 'Amount paid.' },
    {
      name: 'rewards',
      summary: 'Outputs of coinbases that pay an address.',
      order: ['height', 'txid', 'vout', 'address'],
    },
  ),
  copiedTable(TRANSFER, TRANSFER_TEXTS, {
    name: 'transfers',
    summary: `Reserve transfers: sends, conversions, mints, burns. ${VERSIONS}`,
    order: ['height', 'txid', 'vout'],
  }),
  copiedTable(TRANSFER, TRANSFER_TEXTS, {
    name: 'bridge',
    summary: `The transfers to or from another system, including contributions to a launch. ${VERSIONS}`,
    order: ['height', 'txid', 'vout'],
    where: '(r.import_system_id IS NOT NULL OR r.source_system_id IS NOT NULL)',
  }),
] as const;
