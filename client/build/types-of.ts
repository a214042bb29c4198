/**
 * Generates TypeScript types from the route table, in the shape of openapi-typescript, which cannot run on TypeScript 7 (decision 0016).
 */
import { sharedParameters } from '../../api/http/numbers.ts';
import { methodOf, type Route, statusOf } from '../../api/http/route.ts';
import { openApiDocument, templateOf } from '../../api/openapi/document.ts';
import type { JsonSchema } from '../../api/schema/json-schema.ts';

interface Schema extends JsonSchema {
  readonly $ref?: string;
  readonly anyOf?: readonly Schema[];
}

interface DocumentedParameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly description: string;
  readonly schema?: Schema;
}

const PRIMITIVES: Readonly<Record<string, string>> = {
  integer: 'number',
  number: 'number',
  string: 'string',
  boolean: 'boolean',
  null: 'null',
};

/** Returns the TypeScript type of a schema. */
export function typeOf(schema: Schema): string {
  if (schema.$ref !== undefined) return schema.$ref.split('/').at(-1) ?? 'unknown';
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ');
  if (schema.type === undefined) return 'unknown';
  if (typeof schema.type !== 'string') return schema.type.map((type) => typeOf({ ...schema, type })).join(' | ');
  if (schema.type === 'array') return schema.items ? `(${typeOf(schema.items)})[]` : 'unknown[]';
  return schema.type === 'object' ? objectType(schema) : (PRIMITIVES[schema.type] ?? 'unknown');
}

function objectType({ properties = {}, required = [], additionalProperties }: Schema): string {
  const members = Object.entries(properties).map(([name, schema]) => {
    const optional = required.includes(name) ? '' : '?';
    return `${comment(schema.description)}${keyOf(name)}${optional}: ${typeOf(schema)};`;
  });
  const open = additionalProperties === true || Object.keys(properties).length === 0;
  if (typeof additionalProperties === 'object') members.push(`[name: string]: ${typeOf(additionalProperties)};`);
  else if (open) members.push('[name: string]: unknown;');
  return `{ ${members.join(' ')} }`;
}

const keyOf = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name));
const comment = (text: string | undefined) => (text === undefined ? '' : `/** ${text.replaceAll('*/', '* /')} */ `);

function parametersType(parameters: readonly DocumentedParameter[], place: string): string {
  const members = parameters
    .filter((parameter) => parameter.in === place)
    .map(({ name, required, description, schema = {} }) => {
      return `${comment(description)}${keyOf(name)}${required ? '' : '?'}: ${typeOf(schema)};`;
    });
  if (members.length === 0) return `${place}?: never;`;
  const optional = parameters.every((parameter) => parameter.in !== place || !parameter.required);
  return `${place}${optional ? '?' : ''}: { ${members.join(' ')} };`;
}

function operationType(route: Route, parameters: readonly DocumentedParameter[]): string {
  const given = ['query', 'path'].map((place) => parametersType(parameters, place)).join(' ');
  const body = route.cache === 'none' && route.body;
  const sent = body ? `requestBody: { content: { 'application/json': ${typeOf(body)} } };` : '';
  const status = statusOf(route);
  const content = status === 204 ? 'content?: never' : `content: { 'application/json': ${typeOf(route.response)} }`;
  const statuses = route.cache === 'none' && route.otherwise ? [status, route.otherwise] : [status];
  const answers = statuses.map((one) => `${one}: { headers: Headers; ${content} };`).join(' ');
  return `${comment(route.summary)}${methodOf(route).toLowerCase()}: {
    parameters: { ${given} header?: never; cookie?: never }; ${sent}
    responses: { ${answers} default: Refusal } };`;
}

/** Types of the routes that answer with JSON. */
export function typesOf(routes: readonly Route[]): string {
  const documented = routes.filter((route) => route.produces === undefined);
  const document = openApiDocument({ routes: documented, chains: [], version: '', examples: {} });
  const paths = [...Map.groupBy(documented, (route) => templateOf(route.path))].map(([template, atPath]) => {
    const operations = atPath.map((route) => {
      const { parameters } = document.paths[template]?.[methodOf(route).toLowerCase()] ?? { parameters: [] };
      // The types describe answers with JSON numbers; the client option for numbers as text is not a request parameter.
      const own = parameters.filter(({ name }) => !Object.hasOwn(sharedParameters(route), name));
      return operationType(route, own as readonly DocumentedParameter[]);
    });
    return `${JSON.stringify(template)}: { ${operations.join(' ')} };`;
  });
  return `// Made by client/build/build.ts from the route table.
type Headers = Record<string, string>;
export type Problem = ${typeOf(document.components.schemas.Problem)};
type Refusal = { headers: Headers; content: { 'application/problem+json': Problem } };

export interface paths {
${paths.join('\n')}
}
`;
}
