/** What the server told with the document. */
interface Chain {
  readonly name: string;
  readonly nativeId: string;
  readonly nativeName: string;
  /** Between two blocks, as the chain is set up. */
  readonly blockSeconds: number;
}

interface Service {
  readonly version: string;
  readonly demo: boolean;
  readonly chains: readonly Chain[];
  readonly keylessRequestsPerMinute: number;
  readonly creditsPerMinute: Readonly<Record<string, { readonly creditsPerMinute: number }>>;
}

export const service: Service = JSON.parse(document.getElementById('service')?.textContent ?? '{}');
export const chainNames: readonly string[] = service.chains.map(({ name }) => name);

export function nativeNameOf(chain: string): string {
  return service.chains.find(({ name }) => name === chain)?.nativeName ?? chain.toUpperCase();
}

/** Milliseconds that a number of blocks takes as the chain is set up. */
export function spanOfBlocks(chain: string, blocks: number): number {
  return blocks * 1000 * (service.chains.find(({ name }) => name === chain)?.blockSeconds ?? Number.NaN);
}
