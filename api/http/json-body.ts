/** JSON body of a request → value that fits the route's schema. */
import { Ajv } from 'ajv';
import type { JsonSchema } from '../../schemas/rest/json-schema.ts';
import { ApiError } from './api-error.ts';

export type ReadJsonBody = (body: Buffer) => unknown;

const ajv = new Ajv({ allErrors: true, useDefaults: true, strict: true, strictTypes: false });

/** No body at all is an empty object. @throws ApiError invalid_request, invalid_parameter naming each fault */
export function compileBody(schema: JsonSchema): ReadJsonBody {
  const validate = ajv.compile(schema);
  return (body) => {
    const value = body.length === 0 ? {} : parse(body);
    if (validate(value)) return value;
    const errors = (validate.errors ?? []).map(({ instancePath, message = 'is not allowed', params }) => {
      const extra = params.additionalProperty;
      const where = instancePath === '' ? 'the body' : instancePath.slice(1);
      const detail = `${where} ${message}${typeof extra === 'string' ? `: ${JSON.stringify(extra)}` : ''}`;
      return { pointer: instancePath, detail };
    });
    throw new ApiError('invalid_parameter', errors.map(({ detail }) => detail).join('; '), { errors });
  };
}

function parse(body: Buffer): unknown {
  const withNul: string[] = [];
  let value: unknown;
  try {
    value = JSON.parse(body.toString('utf8'), (name, member) => {
      if (typeof member === 'string' && member.includes('\0')) withNul.push(name);
      return member;
    });
  } catch (cause) {
    throw new ApiError('invalid_request', 'the body is not JSON', { cause });
  }
  // As in parameters: Postgres has no such text.
  const errors = withNul.map((name) => ({
    pointer: `/${name}`,
    detail: `${name || 'the body'} holds a NUL character`,
  }));
  if (errors.length === 0) return value;
  throw new ApiError('invalid_parameter', errors.map(({ detail }) => detail).join('; '), { errors });
}
