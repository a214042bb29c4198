/** Avro long of logical type `satoshis` as bigint: amounts reach 10^18 and do not fit a double. */
import avsc, { type Type } from 'avsc';
import { ascending } from '../../domain/order.ts';

// avsc is a CommonJS module: Node.js exposes its members only on the default import.
const { types } = avsc;

/** Twice a number below this is exact as a double. */
const EXACT = 2n ** 52n;
const MAX_BYTES = 10;
const EXACT_BYTES = 7;

// avsc copies the bytes before the next call, so one buffer serves them all.
const scratch = Buffer.alloc(MAX_BYTES);
const ofLength = Array.from({ length: MAX_BYTES + 1 }, (_, length) => scratch.subarray(0, length));

function isInt64(value: unknown): boolean {
  return typeof value === 'bigint' && BigInt.asIntN(64, value) === value;
}

/** Zigzag varint, seven bits per byte, lowest first. Uses doubles where they are exact, several times faster than bigint. */
function toVarint(value: bigint): Buffer | undefined {
  let length = 0;
  if (value > -EXACT && value < EXACT) {
    const number = Number(value);
    let rest = number < 0 ? -2 * number - 1 : 2 * number;
    for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) scratch[length++] = (rest % 0x80) | 0x80;
    scratch[length++] = rest;
  } else {
    let rest = value < 0n ? -2n * value - 1n : 2n * value;
    for (; rest > 0x7fn; rest >>= 7n) scratch[length++] = Number(rest & 0x7fn) | 0x80;
    scratch[length++] = Number(rest);
  }
  return ofLength[length];
}

function fromVarint(bytes: Buffer): bigint {
  if (bytes.length <= EXACT_BYTES) {
    let rest = 0;
    for (let index = bytes.length - 1; index >= 0; index--) rest = rest * 0x80 + ((bytes[index] ?? 0) & 0x7f);
    return BigInt(rest % 2 === 0 ? rest / 2 : -(rest + 1) / 2);
  }
  let rest = 0n;
  for (let index = bytes.length - 1; index >= 0; index--) rest = (rest << 7n) | BigInt((bytes[index] ?? 0) & 0x7f);
  return BigInt.asIntN(64, (rest >> 1n) ^ -(rest & 1n));
}

const satoshisType = types.LongType.__with(
  {
    fromBuffer: fromVarint,
    toBuffer: toVarint,
    fromJSON: BigInt,
    toJSON: String,
    isValid: isInt64,
    compare: ascending,
  },
  true,
);

/** avsc type hook: other longs stay numbers, which avsc refuses to read above 2^53. */
export function satoshisHook(schema: unknown): Type | undefined {
  const isSatoshis = typeof schema === 'object' && schema !== null && 'logicalType' in schema;
  return isSatoshis && schema.logicalType === 'satoshis' ? satoshisType : undefined;
}
