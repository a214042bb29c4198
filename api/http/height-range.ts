/** `fromHeight` and `toHeight` select the rows of a range of blocks, both ends included. */
import { writtenHeight } from '../schema/json-schema.ts';
import { queryParameter } from './parameters.ts';
import { NUMBERS, refuseEmptyRange } from './ranges.ts';

export const heightParameters = {
  fromHeight: queryParameter('Only rows of this block and later ones', writtenHeight),
  toHeight: queryParameter('Only rows of this block and earlier ones', writtenHeight),
};

export interface HeightRange {
  readonly fromHeight: number | undefined;
  readonly toHeight: number | undefined;
}

/**
 * Returns conditions of a `WHERE` clause, and adds the bounds to `values`.
 * @throws ApiError invalid_parameter when no block can be in the range
 */
export function heightConditions({ fromHeight, toHeight }: HeightRange, column: string, values: unknown[]): string[] {
  refuseEmptyRange(NUMBERS, ['fromHeight', fromHeight], ['toHeight', toHeight]);
  return [
    ...(fromHeight === undefined ? [] : [`${column} >= $${values.push(fromHeight)}`]),
    ...(toHeight === undefined ? [] : [`${column} <= $${values.push(toHeight)}`]),
  ];
}

/** The same conditions as the end of a `WHERE` clause: ` AND … AND …`. */
export function heightCondition(range: HeightRange, column: string, values: unknown[]): string {
  return heightConditions(range, column, values)
    .map((condition) => ` AND ${condition}`)
    .join('');
}
