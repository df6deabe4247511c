/** Rows by their pool, in their order. */
export function groupByPool<Row extends { readonly poolAddress: string }>(
  rows: Iterable<Row>,
): Map<string, Row[]> {
  const byPool = new Map<string, Row[]>();
  for (const row of rows) {
    const list = byPool.get(row.poolAddress);
    if (list === undefined) byPool.set(row.poolAddress, [row]);
    else list.push(row);
  }
  return byPool;
}
