/** Reads the JSON body of a request as a value that matches the route's schema. */
import type { ValidateFunction } from 'ajv';
import type { JsonSchema } from '../schema/json-schema.ts';
import { decimalFault, decimalMembers, parseWithDecimals } from '../schema/written-decimal.ts';
import { ApiError, invalidParameters, type ParameterFault } from './api-error.ts';
import { pointer } from './parameters.ts';
import { validatorOf } from './validator.ts';

export type ReadJsonBody = (body: Buffer) => unknown;

/** An empty body counts as an empty object. @throws ApiError invalid_request, or invalid_parameter naming each fault */
export function compileBody(schema: JsonSchema): ReadJsonBody {
  const validator = validatorOf(schema);
  const decimals = decimalMembers(schema);
  return (body) => {
    const validate = validator();
    const value = body.length === 0 ? {} : parse(body, decimals);
    const faults = validate(value) ? nulsIn(value) : faultsOf(validate);
    if (faults.length === 0) return value;
    throw invalidParameters(faults);
  };
}

function parse(body: Buffer, decimals: ReadonlySet<string>): unknown {
  try {
    return parseWithDecimals(body.toString('utf8'), decimals);
  } catch (cause) {
    throw new ApiError('invalid_request', 'the body is not JSON', { cause });
  }
}

function faultsOf(validate: ValidateFunction): ParameterFault[] {
  return (validate.errors ?? []).map(({ instancePath, params, ...error }) => {
    const message = decimalFault(params.pattern) ?? error.message ?? 'is not allowed';
    const extra = params.additionalProperty;
    const detail = `${nameOf(instancePath)} ${message}${typeof extra === 'string' ? `: ${JSON.stringify(extra)}` : ''}`;
    return { pointer: instancePath, detail };
  });
}

/** Returns a fault for each text with a NUL, which Postgres cannot store. The schema has already bounded the depth. */
function nulsIn(value: unknown, at = ''): ParameterFault[] {
  if (typeof value === 'string') {
    return value.includes('\0') ? [{ pointer: at, detail: `${nameOf(at)} holds a NUL character` }] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => nulsIn(member, at + pointer(name)));
}

function nameOf(at: string): string {
  return at === '' ? 'the body' : at.slice(1);
}
