/**
 * Makes text from a chain safe to read: characters that are invisible or change how their neighbours are shown become visible escapes,
 * so that no name can look like another.
 */
export interface TextPart {
  readonly text: string;
  readonly isEscape: boolean;
}

/**
 * Controls, direction marks, joiners, private and unassigned code points, separators other than the plain space, and letters and marks
 * that are blank: fillers, variation selectors, the empty Braille cell.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/u;
const MARK = /\p{M}/u;
const LINE_BREAK = /[\n\t]/;
/** Scripts need at most two combining marks on a letter; more would stack into a tower. */
const MOST_MARKS = 2;

export function inertParts(text: string, { keepsLines = false } = {}): readonly TextPart[] {
  const parts: { text: string; isEscape: boolean }[] = [];
  let marks = 0;
  for (const character of text) {
    marks = MARK.test(character) ? marks + 1 : 0;
    const isEscape = marks > MOST_MARKS || (UNSEEN.test(character) && !(keepsLines && LINE_BREAK.test(character)));
    const shown = isEscape ? escapeOf(character) : character;
    const last = parts.at(-1);
    if (last && last.isEscape === isEscape) last.text += shown;
    else parts.push({ text: shown, isEscape });
  }
  return parts;
}

export const inertText = (text: string) =>
  inertParts(text)
    .map((part) => part.text)
    .join('');

function escapeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const digits = code.toString(16).toUpperCase();
  return code > 0xffff ? `\\u{${digits}}` : `\\u${digits.padStart(4, '0')}`;
}

/** Latin and the scripts whose letters look like Latin ones. */
const SCRIPTS = [
  /\p{Script=Latin}/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /\p{Script=Armenian}/u,
  /\p{Script=Cherokee}/u,
];

export const hasMixedScripts = (name: string) => SCRIPTS.filter((script) => script.test(name)).length > 1;
