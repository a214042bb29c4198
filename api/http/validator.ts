/** Compiles a JSON Schema to a validator of request data that fills in defaults. */
import { Ajv, type ValidateFunction } from 'ajv';
import type { JsonSchema } from '../schema/json-schema.ts';

const ajv = new Ajv({ allErrors: true, useDefaults: true, strict: true, strictTypes: false });

/** Compiled when it is first asked for: those of all routes together take a third of a second, before anything is answered. */
export function validatorOf(schema: JsonSchema): () => ValidateFunction {
  let compiled: ValidateFunction | null = null;
  return () => {
    compiled ??= ajv.compile(schema);
    return compiled;
  };
}
