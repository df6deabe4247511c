import type { Client, EvmDexbV3PoolsRow, Table } from "../src/index.ts";

/** What callers may write, and must not: never called, held by the type check. */
export async function useTypes(client: Client): Promise<void> {
  const pools: Table<EvmDexbV3PoolsRow> = await client.get("/evm/dexb/v3/pools");
  const fee: number | undefined = pools.rows[0]?.fee;
  for await (const { priceUSD } of client.rows("/api/v1/solana/token-transactions", {
    token_address: "So11111111111111111111111111111111111111112",
    days: 1,
    tx_type: "buy",
  })) {
    const price: number | null = priceUSD;
    // @ts-expect-error It may be null.
    const known: number = priceUSD;
    console.log(price, known, fee);
  }
  // @ts-expect-error There is no such endpoint.
  await client.get("/evm/dexb/v3/nothing");
  // @ts-expect-error A pool needs its address.
  await client.get("/evm/dexb/v3/pool");
  // @ts-expect-error There is no such exchange.
  await client.get("/api/v1/solana/token-transactions", { token_address: "So1", days: 1, dex: "other" });
  // @ts-expect-error Pools cannot be ordered by what is no column of theirs.
  await client.get("/evm/dexb/v3/pools", { order_desc: ["tvlUsd"] });
  // @ts-expect-error One pool has no pages.
  void client.pages("/evm/dexb/v3/pool", { pool_address: "0x0" });
}
