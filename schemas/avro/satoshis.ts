/** Avro long of logical type `satoshis` as bigint: amounts reach 10^18 and do not fit a double. */
import avsc, { type Type } from 'avsc';

// A CommonJS module: Node gives its members on the default import alone.
const { types } = avsc;

const scratch = Buffer.alloc(8);

function isInt64(value: unknown): boolean {
  return typeof value === 'bigint' && BigInt.asIntN(64, value) === value;
}

const satoshisType = types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  // avsc copies the bytes before the next call, so one buffer serves them all.
  toBuffer: (value: bigint) => {
    scratch.writeBigInt64LE(value);
    return scratch;
  },
  fromJSON: BigInt,
  toJSON: String,
  isValid: isInt64,
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
});

/** avsc type hook: other longs stay numbers, which avsc refuses to read above 2^53. */
export function satoshisHook(schema: unknown): Type | undefined {
  const isSatoshis = typeof schema === 'object' && schema !== null && 'logicalType' in schema;
  return isSatoshis && schema.logicalType === 'satoshis' ? satoshisType : undefined;
}
