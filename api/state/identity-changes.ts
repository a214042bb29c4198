/** Changes of an identity, stored as JSON text. */
import { parseShallow } from '../../domain/json/shallow-json.ts';

export interface IdentityChange {
  readonly field: string;
  readonly old: unknown;
  readonly new: unknown;
}

export function readChanges(text: string): readonly IdentityChange[] {
  return parseShallow(text) as readonly IdentityChange[];
}
