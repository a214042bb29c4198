/** The compiled page. api/page/page-source.ts declares the same shape, because neither folder may import the other. */

/** A file in every encoding that clients accept. */
export interface CompiledFile {
  readonly type: string;
  readonly body: Uint8Array;
  readonly br: Uint8Array;
  readonly gzip: Uint8Array;
}

export interface CompiledPage {
  readonly files: ReadonlyMap<string, CompiledFile>;
  readonly script: string;
  /** Files that the first script imports statically. */
  readonly imports: readonly string[];
  readonly style: string;
  /** Files that a view's module needs in addition to the first script, by source file of the view. */
  readonly modules: ReadonlyMap<string, readonly string[]>;
}
