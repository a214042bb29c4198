/** Lists of names as readers write them: separated by commas or line breaks; a name that contains a comma is in quotation marks. */
const ENTRY = /\s*"([^"\n]*)"|[^,\n]+/g;

export function namesIn(text: string): string[] {
  const names = Array.from(text.matchAll(ENTRY), ([plain, quoted]) => (quoted ?? plain).trim());
  return names.filter((name) => name !== '');
}

/** `namesIn` reads the same names from it. */
export function listOfNames(names: readonly string[]): string {
  return names.map((name) => (name.includes(',') ? `"${name}"` : name)).join(', ');
}
