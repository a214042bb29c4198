/** What the server sent with the document. */
interface Chain {
  readonly name: string;
  readonly nativeId: string;
  readonly nativeName: string;
  /** Between two blocks, as the chain is set up. */
  readonly blockSeconds: number;
}

/** A chain that is a bundled recording and no live chain. */
interface Recording {
  readonly chain: string;
  readonly text: string;
  /** Height at which it ends. */
  readonly tip: number;
}

interface Service {
  readonly version: string;
  readonly recordings: readonly Recording[];
  readonly chains: readonly Chain[];
  readonly keylessRequestsPerMinute: number;
  readonly creditsPerMinute: Readonly<Record<string, { readonly creditsPerMinute: number }>>;
}

export const service: Service = JSON.parse(document.getElementById('service')?.textContent ?? '{}');
export const chainNames: readonly string[] = service.chains.map(({ name }) => name);

export const recordingOf = (chain: string): Recording | undefined =>
  service.recordings.find((recording) => recording.chain === chain);

export function nativeNameOf(chain: string): string {
  return service.chains.find(({ name }) => name === chain)?.nativeName ?? chain.toUpperCase();
}

/** Milliseconds that a number of blocks takes as the chain is set up. */
export function spanOfBlocks(chain: string, blocks: number): number {
  return blocks * 1000 * (service.chains.find(({ name }) => name === chain)?.blockSeconds ?? Number.NaN);
}
