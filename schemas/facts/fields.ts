/**
 * The sorts of values that a fact can contain. A field is data: its checks, its columns in both stores, its Avro branch and its test
 * arbitraries are each looked up by its sort, in a table that does not compile while a sort is missing.
 */
import { INT32_MAX } from '../integers.ts';

/** Carries the TypeScript type of a field; no field has it at run time. */
declare const VALUE: unique symbol;

interface FieldOf<S extends string, T> {
  readonly sort: S;
  readonly nullable: boolean;
  readonly [VALUE]?: T;
}

/** i-address → satoshis, without zeros, and without the native coin unless the comment of a field states otherwise. */
export type CurrencyAmounts = Readonly<Record<string, bigint>>;
export type CurrencyFlows = Readonly<Record<string, { readonly received: bigint; readonly sent: bigint }>>;

type TextField = FieldOf<'text' | 'hash' | 'numeral' | 'json', unknown>;
export interface IntegerField<T = unknown> extends FieldOf<'integer' | 'seconds', T> {
  readonly min: number;
  readonly max: number;
  /** Postgres keeps it as int8, which is read as a bigint. */
  readonly wide?: true;
}
type AmountField = FieldOf<'satoshis' | 'sum' | 'amounts' | 'flows', unknown>;
export interface ChoiceField<T = unknown> extends FieldOf<'choice' | 'choices', T> {
  readonly values: readonly string[];
}
type TextsField = FieldOf<'texts', unknown>;
/** Records in one JSON column of Postgres; in ClickHouse one array for each entry of `arrays`, column → member. */
export interface ListField<T = unknown> extends FieldOf<'list', T> {
  readonly members: Fields;
  readonly arrays: Readonly<Record<string, string>>;
}
/** A record whose members are columns of the fact's own row, prefixed with the field's name. */
export interface DetailField<T = unknown, F extends Fields = Fields> extends FieldOf<'detail', T> {
  readonly members: F;
}

export type Field = TextField | IntegerField | AmountField | ChoiceField | TextsField | ListField | DetailField;
export type Sort = Field['sort'];
export interface Fields {
  readonly [name: string]: Field;
}

export type ValueOf<F> = F extends { readonly [VALUE]?: infer T } ? T : never;
export type ValuesOf<F extends Fields> = { readonly [K in keyof F]: ValueOf<F[K]> };

const UINT32_MAX = 2 ** 32 - 1;

const plain = <S extends Sort, T>(sort: S): FieldOf<S, T> => ({ sort, nullable: false });

export const text = (): FieldOf<'text', string> => plain('text');
/** Hex of whole bytes: a block hash, a txid. */
export const hash = (): FieldOf<'hash', string> => plain('hash');
/** A number as the daemon prints it. */
export const numeral = (): FieldOf<'numeral', string> => plain('numeral');
/** JSON text. */
export const json = (): FieldOf<'json', string> => plain('json');
export const texts = (): FieldOf<'texts', readonly string[]> => plain('texts');
export const satoshis = (): FieldOf<'satoshis', bigint> => plain('satoshis');
/** Satoshis summed over time, which may exceed int64. */
export const sum = (): FieldOf<'sum', bigint> => plain('sum');
export const amounts = (): FieldOf<'amounts', CurrencyAmounts> => plain('amounts');
/** Gross amounts. Postgres keeps only the net amounts, so a fact with flows cannot be read back from it. */
export const flows = (): FieldOf<'flows', CurrencyFlows> => plain('flows');

type OfInteger<S extends 'integer' | 'seconds' = 'integer'> = IntegerField<number> & FieldOf<S, number>;

/** Zero or a positive int4. */
export const integer = (): OfInteger => ({ sort: 'integer', nullable: false, min: 0, max: INT32_MAX });
export const signedInteger = (): OfInteger => ({
  sort: 'integer',
  nullable: false,
  min: -INT32_MAX - 1,
  max: INT32_MAX,
});
/** The part of an int8 that avsc writes as a number: beyond these bounds it throws or writes another number. */
export const wideInteger = (): OfInteger & { readonly wide: true } => ({
  sort: 'integer',
  nullable: false,
  min: -(2 ** 52),
  max: Number.MAX_SAFE_INTEGER - 1,
  wide: true,
});
/** Seconds since the epoch. */
export const seconds = (): OfInteger<'seconds'> => ({ sort: 'seconds', nullable: false, min: 0, max: UINT32_MAX });

export const choice = <const T extends readonly string[]>(values: T): ChoiceField<T[number]> => ({
  sort: 'choice',
  nullable: false,
  values,
});
export const choices = <const T extends readonly string[]>(values: T): ChoiceField<readonly T[number][]> => ({
  sort: 'choices',
  nullable: false,
  values,
});

export const list = <F extends Fields>(
  members: F,
  arrays: Readonly<Record<string, keyof F & string>> = {},
): ListField<readonly ValuesOf<F>[]> => ({ sort: 'list', nullable: false, members, arrays });

export const detail = <F extends Fields>(members: F): DetailField<ValuesOf<F>, F> => ({
  sort: 'detail',
  nullable: false,
  members,
});

type Nullable<F extends Field> = Omit<F, 'nullable' | typeof VALUE> &
  Pick<F, 'sort'> & { readonly nullable: true; readonly [VALUE]?: ValueOf<F> | null };

export const nullable = <F extends Field>(field: F): Nullable<F> => ({ ...field, nullable: true }) as Nullable<F>;

/**
 * Returns the field at a path: `stake.amount` is the member `amount` of the detail `stake`. A member of a nullable detail is nullable too.
 * @throws TypeError when there is none
 */
export function fieldAt(fields: Fields, path: string): Field {
  const [name = '', member] = path.split('.');
  const field = fields[name];
  if (!field) throw new TypeError(`no field ${path}`);
  if (member === undefined) return field;
  const held = field.sort === 'detail' ? field.members[member] : undefined;
  if (!held) throw new TypeError(`no field ${path}`);
  return field.nullable ? ({ ...held, nullable: true } as Field) : held;
}

/** `stakeAmount` → `stake_amount`: the column of a field, in both stores. */
export const columnName = (field: string): string => field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
