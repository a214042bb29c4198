/** Texts that the page's compiler imports from examples/. */
declare module 'example:*' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: esbuild exports a text as the default
  export default text;
}
