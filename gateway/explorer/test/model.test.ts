import { expect } from "chai";
import { describe, it } from "mocha";
import { catalogue } from "../../catalogue.ts";
import {
  figuresOf,
  isRecordOf,
  keyColumnOf,
  kindOfColumn,
  linesOf,
  linkOf,
  listsOf,
  mainColumns,
  shapeOf,
  shortName,
  tablesAbout,
  titleOf,
} from "../browser/model.js";
import type { Kind, Table } from "../browser/types.ts";
import { declareTables } from "../declared-tables.ts";

const TABLES: readonly Table[] = declareTables(catalogue);
const EVM = `0x${"ab".repeat(20)}`;
const SOLANA = "So11111111111111111111111111111111111111112";
const tableAt = (path: string): Table => {
  const found = TABLES.find((table) => table.path === path);
  if (found === undefined) throw new Error(`${path} is not declared`);
  return found;
};
const about = (kind: Kind, address: string, chainId?: string) =>
  tablesAbout(TABLES, { kind, address, chainId }).map(({ table, param }) => `${table.path} ${param}`);

/** An endpoint that nobody has declared: the explorer knows none by name. */
const FUTURE: Table = {
  ...{ path: "/evm/future/pool", family: "evm-dex", summary: "Candles of one pool", sortable: [] },
  params: [
    { name: "pool_address", description: "", required: true, type: "string", pattern: "^0x[a-fA-F0-9]{40}$" },
    { name: "after_time", description: "", required: true, type: "integer" },
    { name: "before_time", description: "", required: true, type: "integer" },
  ],
  columns: ["openPrice", "highPrice", "lowPrice", "closePrice", "volume", "unixTime"].map((name) => ({
    ...{ name, type: "Float64", description: "" },
  })),
};

describe("explorer: views from the declarations", () => {
  it("finds the lists of each kind", () => {
    const found = (kind: Kind) => listsOf(TABLES, kind).map(({ path }) => path);
    expect(found("pool")).to.have.members([
      "/evm/dexa/v2/pools",
      "/evm/dexb/v3/pools",
      "/evm/clones/v3/pools",
    ]);
    expect(found("vault")).to.have.members([
      "/evm/lending/lendinga/v3/pools",
      "/evm/lending/lendingb/v2/vaults",
      "/evm/lending/lendingc/v1/vaults",
    ]);
    expect(found("token")).to.deep.equal(["/api/v1/solana/tokens"]);
    expect(found("curator")).to.have.members([
      "/evm/lending/lendingb/curators",
      "/evm/lending/lendingc/curators",
    ]);
  });

  it("shows an endpoint as soon as it is declared", () => {
    const named = tablesAbout([...TABLES, FUTURE], { kind: "pool", address: EVM });
    expect(named.map(({ table }) => table.path)).to.include(FUTURE.path);
    expect(shapeOf(FUTURE)).to.equal("candles");
    expect(shapeOf(tableAt("/evm/lending/rates"))).to.equal("history");
    expect(figuresOf(tableAt("/evm/lending/rates")).map(({ name }) => name)).to.deep.equal([
      ...["supplyApy", "borrowApy", "utilizationRate", "tvl", "borrow", "availableLiquidity"],
    ]);
    expect(linesOf(tableAt("/evm/ohlcv/pool")).map(({ name }) => name)).to.deep.equal(["poolTvlUsd"]);
    const list = {
      ...FUTURE,
      path: "/evm/new/pools",
      params: [{ name: "limit", description: "", required: false, type: "integer" }],
    };
    const columns = [{ name: "poolAddress", type: "String", description: "" }];
    expect(listsOf([{ ...list, columns }], "pool")).to.have.length(1);
  });

  it("asks all that takes an address of its kind and form, and nothing twice", () => {
    expect(about("pool", EVM)).to.include.members([
      "/evm/dexb/v3/pool pool_address",
      "/evm/dexa/v2/pool-volume pool_address",
    ]);
    expect(about("pool", EVM).join()).not.to.contain("solana").and.not.to.contain("lending");
    expect(about("pool", SOLANA)).to.deep.equal(["/api/v1/solana/pool-transactions pool_address"]);
    expect(about("vault", EVM)).to.include.members([
      "/evm/lending/lendinga/v3/pools pool_address",
      "/evm/lending/lendingc/v1/vault/markets vault_address",
    ]);
    expect(about("token", SOLANA)).to.include.members([
      "/api/v1/solana/ohlcv/token token_address",
      "/api/v1/solana/tokens/holders token_address",
    ]);
    expect(about("token", SOLANA).join()).not.to.contain("time-bounded");
    expect(about("token", EVM)).to.include("/evm/lending/lendingc/markets collateral_address");
    expect(about("wallet", EVM)).to.deep.equal(["/evm/dexa/v2/provider-summary wallet_address"]);
    // Aerodrome is on Base alone.
    expect(about("pool", EVM, "1").join()).not.to.contain("dexa");
    expect(about("pool", "no address")).to.deep.equal([]);
  });

  it("tells a record from rows and candles", () => {
    const isRecord = (path: string, param: string) => isRecordOf(tableAt(path), param);
    expect(isRecord("/evm/dexb/v3/pool", "pool_address")).to.equal(true);
    expect(isRecord("/evm/lending/lendingc/v1/vaults", "vault_address")).to.equal(true);
    expect(isRecord("/evm/lending/lendingc/v1/vault/markets", "vault_address")).to.equal(false);
    expect(isRecord("/evm/dexb/v3/pools", "token_address")).to.equal(false);
    expect(isRecord("/api/v1/solana/ohlcv/token", "token_address")).to.equal(false);
    expect(isRecord("/api/v1/solana/tokens/security", "token_address")).to.equal(true);
  });

  it("leads from an address, or from the name beside it, to its page", () => {
    const pools = tableAt("/evm/dexb/v3/pools");
    const row = pools.columns.map(({ name }) => (/Address$/.test(name) ? `0x${name}` : name));
    const column = (name: string) => pools.columns.find((each) => each.name === name) as Table["columns"][0];
    expect(linkOf(column("token0Symbol"), row, pools)).to.deep.include({
      kind: "token",
      address: "0xtoken0Address",
    });
    expect(linkOf(column("poolAddress"), row, pools)).to.deep.include({
      kind: "pool",
      address: "0xpoolAddress",
    });
    expect(linkOf(column("dexName"), row, pools)).to.equal(undefined);
    const nothing = row.map(() => `0x${"0".repeat(40)}`);
    expect(linkOf(column("poolAddress"), nothing, pools)).to.equal(undefined);
    // Reserves of one Aave market share its address.
    const reserves = tableAt("/evm/lending/lendinga/v3/pools");
    const reserve = reserves.columns.map(({ name }) => name);
    const [key] = reserves.columns.filter(({ name }) => name === "poolAddress");
    expect(linkOf(key as Table["columns"][0], reserve, reserves)?.within).to.deep.equal({
      underlying_address: "underlyingAddress",
    });
  });

  it("shows first what people read: names for addresses, values in USD for amounts", () => {
    const names = (path: string) => mainColumns(tableAt(path)).map(({ name }) => name);
    expect(names("/evm/dexb/v3/pools")).to.deep.equal([
      "dexName",
      "poolAddress",
      "token0Symbol",
      "token1Symbol",
      "createdAt",
      "fee",
      "tickSpacing",
    ]);
    expect(names("/evm/lending/lendingc/v1/vaults"))
      .to.include.members(["vaultAddress", "vaultName", "supplyUsd"])
      .and.not.include.members(["supply", "underlyingAddress"]);
    for (const table of TABLES) expect(mainColumns(table), table.path).not.to.deep.equal([]);
  });

  it("names lists and columns for people", () => {
    expect(shortName({ path: "/evm/lending/lendingc/v1/vaults" })).to.equal("lendingc v1");
    expect(shortName({ path: "/api/v1/solana/tokens" })).to.equal("solana");
    expect([titleOf("poolTvlUsd"), titleOf("supplyApy"), titleOf("volume24hUsd")]).to.deep.equal([
      "Pool TVL USD",
      "Supply APY",
      "Volume24h USD",
    ]);
    const kinds = TABLES.flatMap((table) => table.columns.map((column) => kindOfColumn(column, table)));
    expect(new Set(kinds)).to.include.all.keys("pool", "vault", "token", "wallet", "curator");
    expect(keyColumnOf(tableAt("/evm/chains"))).to.equal(undefined);
  });
});
