/** Methods about currencies, conversions and other chains. */
import { mostBlocksBetween, mostBlocksOfVolumes, mostPoints, onlyWithReturntx, stepOfHundredth } from '../guards.ts';
import { alsoAsText, listOf, members, oneOrMore, onlyMembers, plainOr, tree } from '../parameters/containers.ts';
import {
  amount,
  currency,
  dataKey,
  flag,
  freeText,
  hash,
  height,
  heightRange,
  integer,
  payee,
  shortHex,
  word,
} from '../parameters/scalars.ts';
import { untilNextBlock } from './repeatable.ts';
import { daemon, type ExtensionMethod, extension, type RpcMethod } from './rpc-method.ts';

const CONVERSION = members({ currency, convertto: currency, via: currency, amount, preconvert: flag });

const FROM = members({ currency, targetprice: amount });
const CONVERTERS = onlyMembers({
  convertto: currency,
  fromcurrency: oneOrMore(plainOr(currency, FROM), 10),
  targetprice: amount,
  amount,
  slippage: amount,
});

const PROOF_ROOT = members({
  version: integer,
  type: integer,
  systemid: currency,
  height,
  stateroot: hash,
  blockhash: hash,
  power: hash,
  gasprice: amount,
});
const PROOF_ROOTS = members({
  proofroots: listOf(PROOF_ROOT, 1000),
  lastconfirmed: integer,
  currencies: listOf(currency, 100),
});

const CHALLENGE = members({
  type: dataKey,
  evidence: tree,
  entropyhash: hash,
  proveheight: height,
  atheight: height,
  fromheight: height,
  toheight: height,
  priornotarizationref: tree,
  priorroot: PROOF_ROOT,
  confirmroot: PROOF_ROOT,
  confirmnotarizationref: tree,
  challengeroots: listOf(members({ txout: tree, proofroot: PROOF_ROOT }), 100),
});

const CURRENCY_FILTER = members({
  launchstate: word,
  systemtype: word,
  fromsystem: currency,
  converter: listOf(currency, 10),
});

const PAYMENT = members({
  currency,
  amount,
  address: payee,
  convertto: currency,
  via: currency,
  exportto: currency,
  feecurrency: currency,
  refundto: payee,
  memo: freeText,
  opret: shortHex,
  data: tree,
  vdxftag: dataKey,
});

const optimalRoute: ExtensionMethod = {
  source: 'extension',
  asksDaemon: true,
  types: [],
  parameters: '"from" "to" amount | {"from":"currency","to":"currency","amount":n}',
  summary: 'Ways to convert an amount through one basket or two, best output first, as the daemon estimates them.',
};

export const CURRENCY_METHODS: Readonly<Record<string, RpcMethod>> = {
  estimateconversion: daemon(
    '{"currency":"name","convertto":"name","via":"name","amount":n} | [...]',
    [oneOrMore(CONVERSION, 100)],
    'Estimated output of a conversion, with everything that is pending now.',
  ),
  getbestproofroot: daemon(
    '{"proofroots":[...],"lastconfirmed":n}',
    [PROOF_ROOTS],
    'The newest proof root of a chain that is valid here.',
  ),
  getcurrency: daemon('"currencyname"', [currency], 'The definition and state of a currency.', {
    repeatable: untilNextBlock,
  }),
  getcurrencyconverters: daemon(
    '"currency1" ( "currency2" ... )',
    [alsoAsText(CONVERTERS, oneOrMore(currency, 10)), ...Array.from({ length: 9 }, () => currency)],
    'Baskets that convert between currencies.',
    {
      load: 'heavy',
      repeatable: untilNextBlock,
    },
  ),
  getcurrencystate: daemon(
    '"currencynameorid" ( "n|m,n|m,n,o" "conversiondatacurrency" )',
    [currency, heightRange, currency],
    'The state of a currency now, at a height, or over heights.',
    { load: 'heavy', guards: [mostPoints(1, stepOfHundredth), mostBlocksOfVolumes], repeatable: untilNextBlock },
  ),
  getcurrencytrust: daemon('["currencyid",...]', [listOf(currency, 1000)], 'Ratings that the node gives currencies.'),
  getexports: daemon(
    '"chainname" ( heightstart heightend )',
    [currency, height, height],
    'Exports to a chain or basket.',
    { load: 'heavy', guards: [mostBlocksBetween] },
  ),
  getimports: daemon(
    '"chainname" ( startheight endheight )',
    [currency, height, height],
    'Imports into a chain or basket.',
    { load: 'heavy', guards: [mostBlocksBetween] },
  ),
  getinitialcurrencystate: daemon('"name"', [currency], 'The state that a currency launched with.', {
    repeatable: untilNextBlock,
  }),
  getlastimportfrom: daemon('"systemname"', [currency], 'The last import from another system.'),
  getlaunchinfo: daemon('"currencyid"', [currency, word], 'Notarizations of the launch of a chain.'),
  getnotarizationdata: daemon(
    '"currencynameorid" ( getevidence separatecounterevidence )',
    [currency, flag, flag],
    'Notarizations of a currency.',
    {
      load: 'heavy',
    },
  ),
  getnotarizationproofs: daemon('[{...},...]', [listOf(CHALLENGE, 16)], 'Proofs for notarizations.', { load: 'heavy' }),
  getoffers: daemon(
    '"currencyorid" ( iscurrency withtx )',
    [currency, flag, flag],
    'Open offers for a currency or an identity.',
    {
      load: 'heavy',
    },
  ),
  listopenoffers: daemon('( unexpired expired )', [flag, flag], 'Offers of the wallet of the node, which is empty.'),
  getpendingtransfers: daemon('"chainname"', [currency], 'Transfers that wait for an export.'),
  getreservedeposits: daemon(
    '"currencyname" ( returnutxos )',
    [currency, flag],
    'What is deposited for a currency on this chain.',
  ),
  listcurrencies: daemon(
    '( {"systemtype":"type","launchstate":"state"} startblock endblock )',
    [CURRENCY_FILTER, height, height],
    'Currencies by kind.',
    {
      load: 'heavy',
      repeatable: untilNextBlock,
    },
  ),
  sendcurrency: daemon(
    '"fromaddress" [{"address":"address","amount":n,...},...] minconfs feeamount returntxtemplate',
    [payee, listOf(PAYMENT, 100), integer, amount, flag],
    'A transaction template that sends or converts; nothing is sent.',
    { servedWhen: onlyWithReturntx(4) },
  ),

  getbridgetransfers: extension(
    '( {"limit":n,"direction":"in|out","address":"address"} )',
    'Transfers to and from other chains, newest first.',
  ),
  getoptimalroute: optimalRoute,
};
