/** Reads the `--json` output of a command and validates it against the published schema. */
import { Ajv2020, type AnySchemaObject } from 'ajv/dist/2020.js';
import outputSchema from '../../../schemas/command-output.json' with { type: 'json' };

const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;
const schemas = new Ajv2020({ allErrors: true, allowUnionTypes: true, formats: { 'date-time': DATE_TIME } });
// The published schema allows further members; tests should notice each new member.
schemas.addSchema(closed(outputSchema) as AnySchemaObject, 'output');

/** @throws Error when stdout is not one line with one document of the schema */
export function readJsonOutput(stdout: string): Readonly<Record<string, unknown>> {
  if (!/^[^\n]+\n$/.test(stdout)) throw new Error(`not one line: ${stdout}`);
  const document = JSON.parse(stdout) as Readonly<Record<string, unknown>>;
  const validate = schemas.getSchema(`output#/$defs/${String(document.command).replace(' ', '-')}`);
  if (validate?.(document)) return document;
  const problems = validate?.errors?.map(({ instancePath, message }) => `${instancePath} ${message}`);
  throw new Error(`${problems?.join('\n') ?? 'no schema'}\n${stdout}`);
}

/** The schema without further members in objects that list their members. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([name, part]) => [name, closed(part)]));
  return 'properties' in schema ? { additionalProperties: false, ...inner } : inner;
}
