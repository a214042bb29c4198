/** `fromHeight` and `toHeight`: the rows of some blocks, both ends included. */
import { ApiError } from './api-error.ts';
import { queryParameter } from './parameters.ts';

/** Schema of a height that is asked for. */
export const HEIGHT = { type: 'integer', minimum: 0, maximum: 2 ** 31 - 1 } as const;

export const heightParameters = {
  fromHeight: queryParameter('Only rows of this block and later ones', HEIGHT),
  toHeight: queryParameter('Only rows of this block and earlier ones', HEIGHT),
};

export interface HeightRange {
  readonly fromHeight: number | undefined;
  readonly toHeight: number | undefined;
}

/**
 * Ends of a `WHERE`, ` AND … AND …`; the bounds are added to `values`.
 * @throws ApiError invalid_parameter where no block is in the range
 */
export function heightCondition({ fromHeight, toHeight }: HeightRange, column: string, values: unknown[]): string {
  if (fromHeight !== undefined && toHeight !== undefined && fromHeight > toHeight) {
    const detail = `fromHeight (${fromHeight}) is above toHeight (${toHeight})`;
    throw new ApiError('invalid_parameter', detail, { errors: [{ pointer: '/fromHeight', detail }] });
  }
  const from = fromHeight === undefined ? '' : ` AND ${column} >= $${values.push(fromHeight)}`;
  return from + (toHeight === undefined ? '' : ` AND ${column} <= $${values.push(toHeight)}`);
}
