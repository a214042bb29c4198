/** Members of the daemon's currency definition in camelCase. A member that is not listed keeps its name. */
const NAMES: Readonly<Record<string, string>> = {
  currencyid: 'currencyId',
  systemid: 'systemId',
  notarizationprotocol: 'notarizationProtocol',
  proofprotocol: 'proofProtocol',
  nativecurrencyid: 'nativeCurrencyId',
  launchsystemid: 'launchSystemId',
  startblock: 'startBlock',
  endblock: 'endBlock',
  minpreconversion: 'minPreconversion',
  maxpreconversion: 'maxPreconversion',
  prelaunchdiscount: 'prelaunchDiscount',
  initialsupply: 'initialSupply',
  prelaunchcarveout: 'prelaunchCarveout',
  initialcontributions: 'initialContributions',
  gatewayconverterissuance: 'gatewayConverterIssuance',
  idregistrationfees: 'idRegistrationFees',
  idreferrallevels: 'idReferralLevels',
  idimportfees: 'idImportFees',
  minnotariesconfirm: 'minNotariesConfirm',
  currencyregistrationfee: 'currencyRegistrationFee',
  pbaassystemregistrationfee: 'pbaasSystemRegistrationFee',
  currencyimportfee: 'currencyImportFee',
  transactionimportfee: 'transactionImportFee',
  transactionexportfee: 'transactionExportFee',
  gatewayconverterid: 'gatewayConverterId',
  gatewayconvertername: 'gatewayConverterName',
  initialtarget: 'initialTarget',
  blocktime: 'blockTime',
  powaveragingwindow: 'powAveragingWindow',
  notarizationperiod: 'notarizationPeriod',
  currencyidhex: 'currencyIdHex',
  fullyqualifiedname: 'fullyQualifiedName',
  magicnumber: 'magicNumber',
  currencynames: 'currencyNames',
  definitiontxid: 'definitionTxid',
  definitiontxout: 'definitionTxOut',
};

/** Members that change with the chain are left out: other paths serve them. */
const VOLATILE = /^(best|lastconfirmed|confirmed)|^currentstate$|^nodes$/;

export function camelCaseDefinition(definition: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const kept = Object.entries(definition).filter(([name]) => !VOLATILE.test(name));
  return Object.fromEntries(kept.map(([name, value]) => [NAMES[name] ?? name, value]));
}
