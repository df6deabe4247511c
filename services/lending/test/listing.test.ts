import { expect } from "chai";
import { describe, it } from "mocha";
import { endpoint as eulerCurators } from "../endpoints/evm/lending/lendingb/curators.endpoint.ts";
import { lendingbCuratorsHandler } from "../endpoints/evm/lending/lendingb/curators.handler.ts";
import { endpoint as curatorVaults } from "../endpoints/evm/lending/lendingc/curator/vaults.endpoint.ts";
import { lendingcCuratorVaultsHandler } from "../endpoints/evm/lending/lendingc/curator/vaults.handler.ts";
import { endpoint as curators } from "../endpoints/evm/lending/lendingc/curators.endpoint.ts";
import { lendingcCuratorsHandler } from "../endpoints/evm/lending/lendingc/curators.handler.ts";
import { endpoint as markets } from "../endpoints/evm/lending/lendingc/markets.endpoint.ts";
import { lendingcMarketsHandler } from "../endpoints/evm/lending/lendingc/markets.handler.ts";
import { endpoint as vaults } from "../endpoints/evm/lending/lendingc/v1/vaults.endpoint.ts";
import { lendingcVaultsHandler } from "../endpoints/evm/lending/lendingc/v1/vaults.handler.ts";
import type { LendingRow } from "../protocols/rows.ts";
import { ATTRIBUTED_VAULT, depsOf, type Hand, KNOWN_CURATOR, rowsOf } from "./answers.ts";
import { address, marketRow, vaultRow } from "./fake-protocol.ts";

const KNOWN = KNOWN_CURATOR.address;
const OWN = address(0xd0);
const [USDC, NOPE] = [1, 4].map(address) as [`0x${string}`, `0x${string}`];
const usdc = { address: USDC, symbol: "USDC" };
const nope = { address: NOPE, symbol: "NOPE" };

describe("lending: listed rows, and whose a vault is", () => {
  const world = (rows: readonly LendingRow[], protocol: Hand["protocol"] = "morpho-v1") =>
    depsOf({ protocol, rows, prices: { [USDC]: 1 } });
  const listed = vaultRow({ address: address(0xb1), curator: KNOWN, supply: 3_000, underlying: usdc });
  const claims = [
    vaultRow({ address: address(0xb2), curator: KNOWN, supply: 9e9, underlying: usdc, listed: false }),
    vaultRow({ address: address(0xb3), curator: KNOWN, supply: 9, underlying: nope, listed: false }),
    vaultRow({ address: address(0xb4), curator: KNOWN, supply: 0, underlying: nope, listed: false }),
  ];

  it("does not count a stranger's vault for the curator that it names: not its worth, not its lack of a price", async () => {
    const query = async (rows: readonly LendingRow[]) =>
      rowsOf(curators, lendingcCuratorsHandler(await world(rows)));
    const [before] = await query([listed]);
    expect(before).to.include({ totalTvlUsd: 3_000, vaultCount: 1, verified: true, listed: true });
    expect(await query([listed, ...claims])).to.deep.equal([before]);
    const own = await rowsOf(
      curatorVaults,
      lendingcCuratorVaultsHandler(await world([listed, ...claims])),
      `curator_address=${KNOWN}`,
    );
    expect(own.map(({ poolAddress }) => poolAddress)).to.deep.equal([listed.address]);
  });

  it("counts a vault that the curator has made, listed or not; an empty one is worth 0 whatever its price", async () => {
    const made = vaultRow({ address: address(0xb5), curator: OWN, isOfCurator: true, listed: false });
    const empty = { ...made, address: address(0xb6), underlying: nope, supply: 0 };
    const deps = await world([made, empty]);
    const [row] = await rowsOf(curators, lendingcCuratorsHandler(deps));
    expect(row).to.include({ curatorAddress: OWN, totalTvlUsd: 1_000, vaultCount: 2, listed: false });
    const unpriced = await world([made, { ...empty, supply: 1 }]);
    const [unknown] = await rowsOf(curators, lendingcCuratorsHandler(unpriced));
    expect(unknown).to.include({ totalTvlUsd: null, vaultCount: 2 });
  });

  it("gives a vault to the curator that a public list attributes it to, whoever governs it", async () => {
    const governed = vaultRow({
      ...{ protocolId: "euler-v2", address: ATTRIBUTED_VAULT, curator: address(0xee), listed: false },
    });
    const ungoverned = { ...governed, curator: null };
    for (const row of [governed, ungoverned]) {
      const deps = await world([row], "euler-v2");
      const [curator, ...others] = await rowsOf(eulerCurators, lendingbCuratorsHandler(deps));
      expect(others).to.deep.equal([]);
      expect(curator).to.include({ curatorAddress: KNOWN, curatorName: "Known Capital", vaultCount: 1 });
    }
  });

  it("filters every list by listed", async () => {
    const market = marketRow({ marketId: "m-1" });
    const other = marketRow({ marketId: "m-2", listed: false });
    const made = vaultRow({ address: address(0xb5), curator: OWN, isOfCurator: true, listed: false });
    const deps = await world([listed, made, market, other]);
    const counts = async (query: string) => [
      (await rowsOf(vaults, lendingcVaultsHandler(deps), query)).length,
      (await rowsOf(markets, lendingcMarketsHandler(deps), query)).length,
      (await rowsOf(curators, lendingcCuratorsHandler(deps), query)).length,
    ];
    expect(await counts("")).to.deep.equal([2, 2, 2]);
    expect(await counts("listed=all")).to.deep.equal([2, 2, 2]);
    expect(await counts("listed=true")).to.deep.equal([1, 1, 1]);
    expect(await counts("listed=false")).to.deep.equal([1, 1, 1]);
    const [unlisted] = await rowsOf(vaults, lendingcVaultsHandler(deps), "listed=false");
    expect(unlisted).to.include({ vaultAddress: made.address, listed: false });
  });
});
