import { ownText } from '../../domain/own-text.ts';

/** Longer texts are not cached, because any client can send them. */
const LONGEST = 256;

/** Memoizes a pure function: keeps between `most` and twice as many recent results. */
export function memoize<V>(answer: (question: string) => V, most: number): (question: string) => V {
  let young = new Map<string, V>();
  let old = new Map<string, V>();
  return (question) => {
    if (question.length > LONGEST) return answer(question);
    const known = young.get(question);
    if (known !== undefined) return known;
    if (young.size >= most) {
      old = young;
      young = new Map();
    }
    const own = ownText(question); // a substring would keep its whole text alive, such as a body of megabytes
    const value = old.get(own) ?? answer(own);
    young.set(own, value);
    return value;
  };
}
