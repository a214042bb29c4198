/** Currencies, conversions and other chains. */
import { deadlyForNativeCurrency, mostPoints, onlyWithReturntx } from '../guards.ts';
import { asOfHeight, untilNextBlock } from './repeatable.ts';
import { daemon, type ExtensionMethod, extension, type RpcMethod } from './rpc-method.ts';

const optimalRoute: ExtensionMethod = {
  source: 'extension',
  asksDaemon: true,
  parameters: '"from" "to" amount | {"from":"currency","to":"currency","amount":n}',
  summary: 'Ways to convert an amount through one basket or two, best output first, as the daemon estimates them.',
};

export const CURRENCY_METHODS: Readonly<Record<string, RpcMethod>> = {
  estimateconversion: daemon(
    '{"currency":"name","convertto":"name","via":"name","amount":n} | [...]',
    'What a conversion would bring, with what is pending now.',
  ),
  getbestproofroot: daemon(
    '{"proofroots":[...],"lastconfirmed":n}',
    'The newest proof root of a chain that is valid here.',
  ),
  getcurrency: daemon('"currencyname"', 'The definition and state of a currency.', { repeatable: untilNextBlock }),
  getcurrencyconverters: daemon('"currency1" ( "currency2" ... )', 'Baskets that convert between currencies.', {
    load: 'heavy',
    repeatable: untilNextBlock,
  }),
  getcurrencystate: daemon(
    '"currencynameorid" ( "n|m,n|m,n,o" "conversiondatacurrency" )',
    'The state of a currency now, at a height, or over heights.',
    { load: 'heavy', guards: [mostPoints(1)], repeatable: asOfHeight(1) },
  ),
  getcurrencytrust: daemon('["currencyid",...]', 'Ratings that the node gives currencies.'),
  getexports: daemon('"chainname" ( heightstart heightend )', 'Exports to a chain or basket.', { load: 'heavy' }),
  getimports: daemon('"chainname" ( startheight endheight )', 'Imports into a chain or basket.', { load: 'heavy' }),
  getinitialcurrencystate: daemon('"name"', 'The state that a currency launched with.', {
    guards: [deadlyForNativeCurrency(0)],
    repeatable: untilNextBlock,
  }),
  getlastimportfrom: daemon('"systemname"', 'The last import from another system.'),
  getlaunchinfo: daemon('"currencyid"', 'Notarizations of the launch of a chain.'),
  getnotarizationdata: daemon(
    '"currencynameorid" ( getevidence separatecounterevidence )',
    'Notarizations of a currency.',
    {
      load: 'heavy',
    },
  ),
  getnotarizationproofs: daemon('[{...},...]', 'Proofs for notarizations.', { load: 'heavy' }),
  getoffers: daemon('"currencyorid" ( iscurrency withtx )', 'Open offers for a currency or an identity.', {
    load: 'heavy',
  }),
  listopenoffers: daemon('( unexpired expired )', 'Offers of the wallet of the node, which is empty.'),
  getpendingtransfers: daemon('"chainname"', 'Transfers that wait for an export.'),
  getreservedeposits: daemon('"currencyname" ( returnutxos )', 'What is deposited for a currency on this chain.'),
  listcurrencies: daemon('( {"systemtype":"type","launchstate":"state"} startblock endblock )', 'Currencies by kind.', {
    load: 'heavy',
    repeatable: untilNextBlock,
  }),
  sendcurrency: daemon(
    '"fromaddress" [{"address":"address","amount":n,...},...] minconfs feeamount returntxtemplate',
    'A transaction template that sends or converts; nothing is sent.',
    { guards: [onlyWithReturntx(4)] },
  ),

  getbridgetransfers: extension(
    '( {"limit":n,"direction":"in|out","address":"address"} )',
    'Transfers to and from other chains, newest first.',
  ),
  getoptimalroute: optimalRoute,
};
