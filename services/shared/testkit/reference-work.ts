/** Rows of events, as benches write and read them. */
const ROWS = 20_000;
const RUNS = 9;

/**
 * CPU milliseconds of a fixed piece of work on this machine, the least of nine runs (half a second in all): how fast its cores are
 * just now. Virtual machines of one name differ by half, so a figure says little without it.
 */
export function measureReference(): number {
  let leastMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS; run++) {
    const before = process.cpuUsage();
    doReferenceWork();
    const { user, system } = process.cpuUsage(before);
    leastMs = Math.min(leastMs, (user + system) / 1_000);
  }
  return Math.round(leastMs);
}

/** Makes rows, writes them as JSON, reads them, adds and sorts them: what an ingest and a service do all day. */
export function doReferenceWork(): { readonly sum: bigint; readonly first: string } {
  // Numbers of its own: the work stays the same for as long as results are compared.
  let seed = 1;
  const rows = Array.from({ length: ROWS }, (_, block) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return {
      pool: seed.toString(16).padStart(40, "0"),
      block,
      amount: `${seed}000000000000`,
      usd: seed / 100,
    };
  });
  const read: typeof rows = JSON.parse(JSON.stringify(rows));
  const byPool = new Map(read.map((row) => [row.pool, row]));
  let sum = 0n;
  for (const { amount } of byPool.values()) sum += BigInt(amount);
  return { sum, first: [...byPool.keys()].sort()[0] ?? "" };
}
