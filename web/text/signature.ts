/** A signature as a reader pastes it: alone, or with all that the wallet printed. */
export function signatureIn(pasted: string): string {
  const text = pasted.trim();
  const [, quoted] = /"signature"\s*:\s*"([^"]*)"/.exec(text) ?? [];
  return (quoted ?? text).replaceAll(/["'\s]/g, '');
}
