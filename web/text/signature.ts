/** Extracts the signature from pasted text: the signature alone, or the whole output of the wallet. */
export function signatureIn(pasted: string): string {
  const text = pasted.trim();
  const [, quoted] = /"signature"\s*:\s*"([^"]*)"/.exec(text) ?? [];
  return (quoted ?? text).replaceAll(/["'\s]/g, '');
}
