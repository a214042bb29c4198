/** The port to the page: `commands/` implements it with web/, which api/ does not import. */
import type { Config } from '../../schemas/config.ts';

/** Describes an address to clients that run no script, such as link previews and search engines. */
export interface AddressDescription {
  readonly title: string;
  readonly description: string;
  /** REST path of the same thing as JSON; null where there is none. */
  readonly json: string | null;
  /** Source of the view's own module; null for an unknown address. */
  readonly module: string | null;
}

export interface PageFile {
  readonly type: string;
  readonly body: Uint8Array;
  readonly br: Uint8Array;
  readonly gzip: Uint8Array;
}

export interface BuiltPage {
  /** By the last part of their address below /assets/, which holds a hash of the content. */
  readonly files: ReadonlyMap<string, PageFile>;
  readonly script: string;
  /** Files that the script imports statically. */
  readonly imports: readonly string[];
  readonly style: string;
  /** Files that each module needs beyond the first script, by the module's source. */
  readonly modules: ReadonlyMap<string, readonly string[]>;
}

export interface PageSource {
  /** Null: not an address of the page. */
  describe(path: string, query: string, chains: readonly string[]): AddressDescription | null;
  /** @throws when there is no compiler for this machine, or it does not end well */
  build(): Promise<BuiltPage>;
}

/** Facts about the service that stand in the document, so that the page need not ask for them. */
export interface ServiceFacts {
  readonly version: string;
  readonly recordings: Config['recordings'];
  readonly chains: readonly {
    readonly name: string;
    readonly nativeId: string;
    readonly nativeName: string;
    readonly blockSeconds: number;
  }[];
  readonly keylessRequestsPerMinute: number;
  readonly creditsPerMinute: Config['tiers'];
}
