/** Formats the digits of an answer for reading. Intl parses decimals from text, so no digit is lost. */
export type NumberKind = 'amount' | 'usd' | 'price' | 'plain' | 'integer';

const ROUNDING = { roundingMode: 'halfEven' } as const;
const formats = new Map<string, Intl.NumberFormat>();

/** Kept by its options, because making one takes far longer than using it. */
export function numberFormat(options: Intl.NumberFormatOptions): Intl.NumberFormat {
  const key = JSON.stringify(options);
  const format = formats.get(key) ?? new Intl.NumberFormat('en-US', options);
  formats.set(key, format);
  return format;
}

function format(options: Intl.NumberFormatOptions, digits: string): string {
  return numberFormat({ ...options, ...ROUNDING }).format(digits as Intl.StringNumericLiteral);
}

/** Matches numbers with an integer part of at most one digit that is 0, which two decimals might round to nothing. */
const SMALL = /^-?0?\.?0*[1-9]/;

export function shownNumber(digits: string, kind: NumberKind): string {
  switch (kind) {
    case 'amount':
      return format({ maximumFractionDigits: 8 }, digits);
    case 'integer':
      return format({ maximumFractionDigits: 0 }, digits);
    case 'usd':
      return isSmall(digits)
        ? format({ maximumSignificantDigits: 3 }, digits)
        : format({ minimumFractionDigits: 2, maximumFractionDigits: 2 }, digits);
    case 'price':
      return isSmall(digits)
        ? format({ maximumSignificantDigits: 6 }, digits)
        : format({ minimumFractionDigits: 2, maximumFractionDigits: 4 }, digits);
    case 'plain':
      return format({ maximumFractionDigits: 20 }, digits);
  }
}

/** Whether the absolute value is between 0 and 1, both excluded. */
const isSmall = (digits: string) => SMALL.test(digits) && Math.abs(Number(digits)) < 1;
