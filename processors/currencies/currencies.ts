/** Definitions of currencies. */
import { CURRENCY_OPTIONS } from '../../domain/flags.ts';
import { stringifyExact } from '../../domain/json/exact-json.ts';
import type { CurrencyFact, CurrencyType } from '../../schemas/facts.ts';
import { INT32_MAX } from '../../schemas/integers.ts';
import { asFlags, asInteger, asName, asText, type DecodedObject, decodedObject } from '../decoding/decoded-object.ts';
import { qualifiedCurrencyName } from '../decoding/qualified-names.ts';
import type { BlockInput, ChainContext, ChainState } from '../state/chain-state.ts';

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
    // The daemon prints 32 bits without a sign, and the highest means nothing.
    const options = asFlags(decoded.options);
    return {
      type: 'currency',
      currencyId,
      name,
      fullyQualifiedName: qualifiedCurrencyName({ name, parent }, state, inBlock),
      parent,
      systemId: asText(decoded.systemid) ?? state.chain.nativeCurrencyId,
      currencyType: currencyType(decoded, currencyId, options, state.chain),
      options,
      startBlock: asHeight(asInteger(decoded.startblock) ?? 0),
      txid,
      vout,
      txIndex,
      definition: stringifyExact(decoded),
    };
  });
}

/** A definition may name any start block; the stored definition keeps the number as printed. */
const asHeight = (height: number): number => Math.min(Math.max(height, 0), INT32_MAX);

function definitionsOf(input: BlockInput): Definition[] {
  return input.block.tx.flatMap(({ txid, vout: outputs }, txIndex) =>
    outputs.flatMap(({ n: vout, scriptPubKey }) => {
      const decoded = decodedObject(scriptPubKey, 'currencydefinition');
      const currencyId = asText(decoded?.currencyid);
      const name = asName(decoded?.name);
      if (!decoded || currencyId === undefined || name === undefined) return [];
      return [{ currencyId, name, parent: asText(decoded.parent) ?? null, decoded, txid, txIndex, vout }];
    }),
  );
}

function currencyType(decoded: DecodedObject, currencyId: string, options: number, chain: ChainContext): CurrencyType {
  if (currencyId === chain.nativeCurrencyId) return 'native';
  if (options & CURRENCY_OPTIONS.FRACTIONAL) return 'basket';
  if (options & CURRENCY_OPTIONS.PBAAS) return 'pbaas_chain';
  if (options & CURRENCY_OPTIONS.GATEWAY) return 'gateway';
  return 'nativecurrencyid' in decoded ? 'mapped' : 'token';
}
