/** A list of names stays the same when it is shown and read again. */
import { expect, it } from 'vitest';
import { listOfNames, namesIn } from './name-lists.ts';

it.each<[string, readonly string[]]>([
  ['', []],
  [' , \n', []],
  ['VRSC', ['VRSC']],
  ['VRSC, alice@\nUSDX', ['VRSC', 'alice@', 'USDX']],
  ['"Dollar, US" , VRSC', ['Dollar, US', 'VRSC']],
  ['VRSC,"Dollar, US"', ['VRSC', 'Dollar, US']],
  ['one "half', ['one "half']],
])('%j names %j', (text, names) => {
  expect(namesIn(text)).toEqual(names);
  expect(namesIn(listOfNames(names))).toEqual(names);
});
