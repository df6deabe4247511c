import {
  ASSOCIATED_TOKEN_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from "../../../../services/solana/chain/program-address.ts";
import { deriveAddress, MEMO_PROGRAM, SYSTEM_PROGRAM } from "../chain/addresses.ts";
import type { LookupTables } from "../chain/keys.ts";
import { sideAccount } from "../exchanges/pool.ts";
import type { MarketPool } from "./pools.ts";

const ROLES = [
  "config",
  "observation",
  "oracle",
  "tick array 0",
  "tick array 1",
  "tick array 2",
  "bin array 0",
  "bin array 1",
];
const PER_TABLE = 200;

/** What many transactions name, in tables of their own: programs, mints, pools with their vaults and side accounts. */
export function createLookupTables(pools: readonly MarketPool[]): LookupTables {
  const addresses = new Set<string>([
    TOKEN_PROGRAM,
    TOKEN_2022_PROGRAM,
    ASSOCIATED_TOKEN_PROGRAM,
    SYSTEM_PROGRAM,
    MEMO_PROGRAM,
  ]);
  for (const pool of pools) {
    for (const address of [
      pool.exchange.programId,
      pool.authority,
      pool.address,
      ...pool.mints,
      ...pool.vaults,
    ])
      addresses.add(address);
    for (const role of ROLES) addresses.add(sideAccount(pool, role));
  }
  return new Map(
    [...addresses].map((address, i) => [
      address,
      { table: deriveAddress("lookup table", Math.floor(i / PER_TABLE)), index: i % PER_TABLE },
    ]),
  );
}
