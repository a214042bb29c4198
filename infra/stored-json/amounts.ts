import { columns, jsonReader } from '../row-reader.ts';

/** {i-address: "satoshis"} */
export const readAmounts = jsonReader(columns.record(columns.text));
