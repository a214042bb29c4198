/** Definitions of currencies. */
import { stringifyExact } from '../schemas/exact-json.ts';
import type { CurrencyFact, CurrencyType } from '../schemas/facts.ts';
import type { BlockInput, ChainContext, ChainState } from './chain-state.ts';
import { asInteger, asText, type DecodedObject, decodedObject } from './decoded-object.ts';
import { qualifiedCurrencyName } from './qualified-names.ts';

const OPTION_FRACTIONAL = 0x1;
const OPTION_GATEWAY = 0x80;
const OPTION_PBAAS = 0x100;

interface Definition {
  readonly currencyId: string;
  readonly name: string;
  readonly parent: string | null;
  readonly decoded: DecodedObject;
  readonly txid: string;
  readonly txIndex: number;
  readonly vout: number;
}

/** In order of transaction and output. */
export function deriveCurrencies(input: BlockInput, state: ChainState): CurrencyFact[] {
  const definitions = definitionsOf(input);
  const inBlock = new Map(definitions.map((definition) => [definition.currencyId, definition]));
  return definitions.map(({ currencyId, name, parent, decoded, txid, txIndex, vout }) => {
    const options = asInteger(decoded.options) ?? 0;
    return {
      type: 'currency',
      currencyId,
      name,
      fullyQualifiedName: qualifiedCurrencyName({ name, parent }, state, inBlock),
      parent,
      systemId: asText(decoded.systemid) ?? state.chain.nativeCurrencyId,
      currencyType: currencyType(decoded, currencyId, options, state.chain),
      options,
      startBlock: asInteger(decoded.startblock) ?? 0,
      txid,
      vout,
      txIndex,
      definition: stringifyExact(decoded),
    };
  });
}

function definitionsOf(input: BlockInput): Definition[] {
  return input.block.tx.flatMap(({ txid, vout: outputs }, txIndex) =>
    outputs.flatMap(({ n: vout, scriptPubKey }) => {
      const decoded = decodedObject(scriptPubKey, 'currencydefinition');
      const currencyId = asText(decoded?.currencyid);
      const name = asText(decoded?.name);
      if (!decoded || currencyId === undefined || name === undefined) return [];
      return [{ currencyId, name, parent: asText(decoded.parent) ?? null, decoded, txid, txIndex, vout }];
    }),
  );
}

function currencyType(decoded: DecodedObject, currencyId: string, options: number, chain: ChainContext): CurrencyType {
  if (currencyId === chain.nativeCurrencyId) return 'native';
  if (options & OPTION_FRACTIONAL) return 'basket';
  if (options & OPTION_PBAAS) return 'pbaas_chain';
  if (options & OPTION_GATEWAY) return 'gateway';
  return 'nativecurrencyid' in decoded ? 'mapped' : 'token';
}
