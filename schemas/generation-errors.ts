/** Errors in the generations of prices, shared by all their readers. */
import { PermanentError } from './errors.ts';

export class NoServedGeneration extends PermanentError {
  constructor() {
    super('no_served_generation', 'no price generation is served: swap one in with `reprocess --swap`');
  }
}
