/** The data that the server embeds in the document. */
interface Chain {
  readonly name: string;
  readonly nativeId: string;
  readonly nativeName: string;
  /** Target time between two blocks, from the chain's parameters. */
  readonly blockSeconds: number;
}

/** A chain that is played from a bundled recording. */
interface Recording {
  readonly chain: string;
  readonly text: string;
  /** Height at which the recording ends. */
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

/** Milliseconds that a number of blocks takes by the chain's parameters. */
export function spanOfBlocks(chain: string, blocks: number): number {
  return blocks * 1000 * (service.chains.find(({ name }) => name === chain)?.blockSeconds ?? Number.NaN);
}
