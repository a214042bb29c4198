/** Compiles a JSON Schema to a validator of request data that fills in defaults. */
import { Ajv, type ValidateFunction } from 'ajv';
import type { JsonSchema } from '../schema/json-schema.ts';

// The schemas themselves are held to JSON Schema by a test, as compiling that takes longer than compiling one of them.
const ajv = new Ajv({ allErrors: true, useDefaults: true, strict: true, strictTypes: false, validateSchema: false });

/** Compiled when it is first asked for: those of all routes together take a third of a second, before anything is answered. */
export function validatorOf(schema: JsonSchema): () => ValidateFunction {
  let compiled: ValidateFunction | null = null;
  return () => {
    compiled ??= ajv.compile(schema);
    return compiled;
  };
}
