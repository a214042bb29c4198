/** Parameters of a route: strict parsing from text, then JSON Schema (ajv). The documentation shows the same schemas. */
import type { ErrorObject, ValidateFunction } from 'ajv';
import { type JsonSchema, string, type Typed } from '../schema/json-schema.ts';
import { decimalFault } from '../schema/written-decimal.ts';
import { invalidParameters, type ParameterFault } from './api-error.ts';
import { validatorOf } from './validator.ts';

/**
 * Names of configured chains, known when the server starts. Default: the first chain for `chain` and `chain or all`, all chains for `any chain`.
 * `chain or all` also allows the word `all`.
 */
export type ChainSchema = 'chain' | 'any chain' | 'chain or all';

export interface Parameter<T = unknown> {
  readonly in: 'path' | 'query';
  readonly description: string;
  readonly required: boolean;
  readonly schema: JsonSchema | ChainSchema;
  /** Type of the value, only for the compiler. */
  readonly type?: T;
}

export type Parameters = Readonly<Record<string, Parameter>>;
export type ParameterValues<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never;
};

export interface ParameterReader {
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** @throws ApiError invalid_parameter, which names each fault and the allowed values */
  read(path: Readonly<Record<string, string>>, query: string): Readonly<Record<string, unknown>>;
}

interface InPath {
  readonly in: 'path';
}
interface Required {
  readonly in: 'query';
  readonly required: true;
}
interface Optional {
  readonly in: 'query';
  readonly required: false;
}

export function pathParameter<const S extends JsonSchema>(
  description: string,
  schema: S,
): Parameter<Typed<S>> & InPath {
  return { in: 'path', description, required: true, schema };
}

export function requiredQuery<const S extends JsonSchema>(
  description: string,
  schema: S,
): Parameter<Typed<S>> & Required {
  return { in: 'query', description, required: true, schema };
}

/** Undefined when missing, unless the schema has a `default`. */
export function queryParameter<const S extends JsonSchema>(
  description: string,
  schema: S,
): Parameter<S extends { readonly default: unknown } ? Typed<S> : Typed<S> | undefined> & Optional {
  return { in: 'query', description, required: false, schema };
}

/** A chain's name in upper or lower case; the first configured chain when it is not given. */
export const chainParameter: Parameter<string> & Optional = {
  in: 'query',
  description: 'Short name of a configured chain, in any case',
  required: false,
  schema: 'chain',
};

/** The same, but undefined when missing, which means all chains. */
export const anyChainParameter: Parameter<string | undefined> & Optional = {
  in: 'query',
  description: 'Short name of a configured chain, in any case; all of them when it is not given',
  required: false,
  schema: 'any chain',
};

/** A chain's name or the word `all`; the first configured chain when it is not given. */
export const chainOrAllParameter: Parameter<string> = {
  in: 'query',
  description: 'Short name of a configured chain, in any case, or `all`',
  required: false,
  schema: 'chain or all',
};

/** Parameter of answers that have rows. */
export const formatParameter = {
  format: queryParameter(
    'json: the answer, or one page of a list; csv, ndjson: only the rows, all of them, in their order, as a stream. Accept has the same effect. ' +
      'In csv, a text that a spreadsheet would run, or that begins with an apostrophe, is preceded by one more apostrophe: remove it',
    { type: 'string', enum: ['json', 'csv', 'ndjson'] },
  ),
};

const isChain = (schema: JsonSchema | ChainSchema | undefined): schema is ChainSchema =>
  schema === 'chain' || schema === 'any chain' || schema === 'chain or all';

export function compileParameters(parameters: Parameters, chains: readonly string[]): ParameterReader {
  const schemas: Record<string, JsonSchema> = {};
  for (const [name, parameter] of Object.entries(parameters)) {
    const { schema } = parameter;
    const names = schema === 'chain or all' ? [...chains, 'all'] : chains;
    const chain = chains.length > 0 ? { ...string, enum: names } : string;
    if (isChain(schema))
      schemas[name] = schema !== 'any chain' && chains.length > 0 ? { ...chain, default: chains[0] } : chain;
    else schemas[name] = schema;
  }
  const validator = validatorOf({
    type: 'object',
    properties: schemas,
    required: Object.keys(parameters).filter((name) => parameters[name]?.required),
    additionalProperties: false,
  });
  return {
    schemas,
    read(path, query) {
      const faults: ParameterFault[] = [];
      // No prototype, so that a name such as `constructor` is only a parameter.
      const values = collect(Object.assign(Object.create(null), path), query, faults);
      for (const [name, text] of Object.entries(values)) {
        const schema = schemas[name];
        if (isChain(parameters[name]?.schema)) values[name] = text.toLowerCase();
        else if (schema) (values as Record<string, unknown>)[name] = convert(text, schema);
      }
      const validate = validator();
      if (!validate(values)) faults.push(...faultsOf(validate, parameters));
      if (faults.length > 0) throw invalidParameters(faults);
      return values;
    },
  };
}

function collect(values: Record<string, string>, query: string, faults: ParameterFault[]): Record<string, string> {
  for (const [name, text] of new URLSearchParams(query)) {
    if (Object.hasOwn(values, name)) faults.push({ pointer: pointer(name), detail: `${name} is given more than once` });
    else values[name] = text;
  }
  for (const [name, text] of Object.entries(values)) {
    if (text.includes('\0')) faults.push({ pointer: pointer(name), detail: `${name} holds a NUL character` });
  }
  return values;
}

const INTEGER = /^-?\d{1,15}$/;

/** Leaves text that is no integer or boolean as it is, so that the schema refuses it with a reason. */
function convert(text: string, schema: JsonSchema): unknown {
  if ((schema.type === 'integer' || schema.type?.includes('integer')) && INTEGER.test(text)) return Number(text);
  if (schema.type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function faultsOf(validate: ValidateFunction, parameters: Parameters): ParameterFault[] {
  return (validate.errors ?? []).map((error) => ({ pointer: pointerOf(error), detail: detailOf(error, parameters) }));
}

function pointerOf(error: ErrorObject): string {
  const name = error.params.additionalProperty ?? error.params.missingProperty;
  return typeof name === 'string' ? pointer(name) : error.instancePath;
}

/** Returns a JSON Pointer with one step. */
export function pointer(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

function detailOf(error: ErrorObject, parameters: Parameters): string {
  const allowed = Object.keys(parameters).filter((name) => parameters[name]?.in === 'query');
  const name = error.instancePath.slice(1);
  switch (error.keyword) {
    case 'additionalProperties': {
      const known = allowed.length > 0 ? `allowed are ${allowed.join(', ')}` : 'this path takes none';
      return `unknown parameter ${JSON.stringify(error.params.additionalProperty)}: ${known}`;
    }
    case 'required':
      return `${error.params.missingProperty} is required`;
    case 'enum':
      return `${name} must be one of ${(error.params.allowedValues as string[]).join(', ')}`;
    default:
      return `${name} ${decimalFault(error.params.pattern) ?? error.message ?? 'is not allowed'}`;
  }
}
