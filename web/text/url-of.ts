/** Parameters of a query; those that are null or undefined are left out. */
export type Query = Readonly<Record<string, string | null | undefined>>;

/** The path with the parameters as its query, without a question mark where there are none. */
export function urlOf(path: string, query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (typeof value === 'string') search.set(name, value);
  return search.size === 0 ? path : `${path}?${search}`;
}
