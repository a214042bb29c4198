/** Checks the parameters of a call against their types. */
import { RpcError } from '../rpc-error.ts';
import type { ParameterType } from './parameter-type.ts';
import { extra } from './scalars.ts';

/** @throws RpcError that names the allowed values. Extra parameters must fit the type `extra`, which is harmless. */
export function checkParameters(texts: readonly string[], types: readonly ParameterType[]): void {
  for (let index = 0; index < texts.length; index++) {
    const misfit = (types[index] ?? extra).check(texts[index] ?? '');
    if (misfit) {
      throw new RpcError(misfit.code, `Parameter ${index + 1}${misfit.path} must be ${misfit.allows}`);
    }
  }
}
