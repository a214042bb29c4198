/** Validators are compiled without validating their schemas; this test validates each schema. */
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { pingMessage, subscribeMessage, unsubscribeMessage } from '../push/client-message-schema.ts';
import { routeTable } from '../rest/route-table.ts';
import { compileParameters } from './parameters.ts';
import { methodOf } from './route.ts';

const ajv = new Ajv({ strictTypes: false, allowUnionTypes: true });

/** Returns the error that JSON Schema or the compiler finds in the schema; null for none. */
function faultOf(schema: object): string | null {
  try {
    ajv.compile(schema);
    return null;
  } catch (error) {
    return String(error);
  }
}

describe('the schema', () => {
  it.each(routeTable.map((route) => [`${methodOf(route)} ${route.path}`, route] as const))(
    'of %s is valid',
    (_, route) => {
      const { schemas } = compileParameters(route.parameters, ['vrsc']);
      expect(faultOf({ type: 'object', properties: schemas })).toBeNull();
      if (route.cache === 'none' && route.body) expect(faultOf(route.body)).toBeNull();
    },
  );

  it.each(Object.entries({ subscribeMessage, unsubscribeMessage, pingMessage }))('of %s is valid', (_, schema) => {
    expect(faultOf(schema)).toBeNull();
  });

  it('is refused if it is invalid', () => {
    expect(faultOf({ type: 'object', properties: { page: { type: 'integer', minimum: 'one' } } })).toContain('invalid');
    expect(faultOf({ type: 'number', minimun: 1 })).toContain('unknown keyword');
  });
});
