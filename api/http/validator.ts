/** Compiles a JSON Schema to a validator for request data that also fills in defaults. */
import { Ajv, type ValidateFunction } from 'ajv';
import type { JsonSchema } from '../schema/json-schema.ts';

// A test validates the schemas themselves, because compiling the meta schema takes longer than compiling one of them.
const ajv = new Ajv({ allErrors: true, useDefaults: true, strict: true, strictTypes: false, validateSchema: false });

/** Compiles at first use: compiling the schemas of all routes at the start would delay the first answer by a third of a second. */
export function validatorOf(schema: JsonSchema): () => ValidateFunction {
  let compiled: ValidateFunction | null = null;
  return () => {
    compiled ??= ajv.compile(schema);
    return compiled;
  };
}
