/** Texts that the compiler of the page takes from examples/. */
declare module 'example:*' {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: it is what the compiler makes of a text
  export default text;
}
