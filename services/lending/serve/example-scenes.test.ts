import { expect } from "chai";
import { describe, it } from "mocha";
import type { Cell } from "../../shared/contract/column.ts";
import type { Endpoint } from "../../shared/contract/endpoint.ts";
import type { AnyHandler } from "../../shared/service/handlers.ts";
import {
  endpoints,
  lendingbCurators,
  lendingbCuratorVaults,
  lendingbMarkets,
  lendingbVaultMarkets,
  lendingbVaults,
  lendingcVaultMarkets,
} from "../contract.ts";
import { findExampleScenes } from "./example-scenes.ts";

const address = (digit: string) => `0x${digit.repeat(40)}`;
type Row = Readonly<Record<string, Cell>>;

describe("lending: scenes of examples", () => {
  /** Lists that answer with these rows on one chain, as JSON texts where `asText` says so. */
  const findOn = (
    chainId: number,
    lists: readonly (readonly [endpoint: unknown, rows: readonly Row[]])[],
  ) => {
    const requested: string[] = [];
    const handlers: Record<string, AnyHandler> = Object.fromEntries(
      endpoints.map(({ path }) => [path, async () => ({ rows: [] })]),
    );
    for (const [endpoint, rows] of lists) {
      const { path, columns } = endpoint as Endpoint;
      handlers[path] = async (params) => {
        requested.push(path);
        const cells = rows.map((row) => columns.map(({ name }) => row[name] ?? null));
        return { rows: params.chain_id === chainId ? cells.map((row) => JSON.stringify(row) as never) : [] };
      };
    }
    const find = findExampleScenes({ endpoints, handlers, chains: [{ chainId: 1 }, { chainId: 8453 }] });
    return { requested, find: (endpoint: unknown) => find(endpoint as Endpoint) };
  };

  it("of a list are its own rows: each parameter has the value of the column of its name", async () => {
    const row = {
      protocolId: "euler-v2",
      vaultAddress: address("a"),
      underlyingAddress: address("b"),
      borrowable: true,
      tvlUsd: 2_000_001.5,
      listed: true,
    };
    const unpriced = { ...row, vaultAddress: address("c"), borrowable: false, tvlUsd: null };
    const { find } = findOn(8453, [[lendingbVaults, [row, unpriced]]]);
    expect(await find(lendingbVaults)).to.deep.equal([
      {
        vault_address: address("a"),
        underlying_address: address("b"),
        chain_id: "8453",
        protocol_id: "euler-v2",
        min_tvl_usd: "1000000",
        borrowable: "true",
        listed: "true",
      },
      {
        vault_address: address("c"),
        underlying_address: address("b"),
        chain_id: "8453",
        protocol_id: "euler-v2",
        min_tvl_usd: "0",
        borrowable: "false",
        listed: "true",
      },
    ]);
  });

  it("leave out a parameter whose column is null", async () => {
    const market = { protocolId: "euler-v2", loanAddress: address("d"), collateralAddress: null };
    const [scene] = await findOn(1, [[lendingbMarkets, [market]]]).find(lendingbMarkets);
    expect(scene).to.deep.include({
      loan_address: address("d"),
      chain_id: "1",
      collateral_address: undefined,
    });
  });

  it("of an endpoint that requires an address come from the list of the same protocol that has it", async () => {
    const vault = { protocolId: "euler-v2", vaultAddress: address("a") };
    const curator = { protocolId: "euler-v2", curatorAddress: address("e"), totalTvlUsd: 5_000 };
    const { find, requested } = findOn(8453, [
      [lendingbVaults, [vault]],
      [lendingbCurators, [curator]],
    ]);
    expect(await find(lendingbVaultMarkets)).to.deep.equal([
      { vault_address: address("a"), chain_id: "8453" },
    ]);
    const [ofCurator] = await find(lendingbCuratorVaults);
    // The TVL of all of the curator's vaults would leave each single one out.
    expect(ofCurator).to.deep.include({ curator_address: address("e"), min_tvl_usd: "0" });
    requested.length = 0;
    expect(await find(lendingcVaultMarkets)).to.deep.equal([]);
    expect(requested).to.deep.equal([]);
  });
});
