/** Changes of an identity, which the stores keep as JSON text. */
import { parseExact } from '../../domain/json/exact-json.ts';

export interface IdentityChange {
  readonly field: string;
  readonly old: unknown;
  readonly new: unknown;
}

export function readChanges(text: string): readonly IdentityChange[] {
  return parseExact(text) as readonly IdentityChange[];
}
