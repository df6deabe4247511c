import { expect } from "chai";
import { describe, it } from "mocha";
import type { Endpoint, Handler } from "../../shared/contract/endpoint.ts";
import { ServiceError } from "../../shared/errors.ts";
import type { ProtocolId } from "../protocols/protocol-id.ts";
import type { LendingRow } from "../protocols/rows.ts";
import type { ServeDeps } from "../serve/deps.ts";
import { callHandler, depsOf, KNOWN_CURATOR, type RowObject, rowsOf } from "./answers.ts";
import { address, marketRow, vaultMarketRow, vaultRow } from "./fake-protocol.ts";

/** What endpoints of several protocols promise alike, over the same small world of rows. */
export interface EndpointUnderTest<E extends Endpoint = Endpoint> {
  readonly endpoint: E;
  readonly createHandler: (deps: ServeDeps) => Handler<E>;
  readonly protocol: ProtocolId;
}

export const [USDC, WETH, NOPE] = [address(1), address(2), address(4)];
const PRICES = { [USDC]: 1, [WETH]: 2_000 };
/** Curators: one with two vaults, an unknown one, one that has a vault without a price. */
const [KNOWN, UNKNOWN, UNPRICED] = [KNOWN_CURATOR.address, address(0xc1), address(0xc2)];
export const VAULTS = [address(0xb1), address(0xb2), address(0xb3), address(0xb4), address(0xb5)] as const;
const [V1, V2, V3, V4, V5] = VAULTS;
export const MARKETS = ["m-1", "m-2", "m-3", "m-4"] as const;
const [M1, M2, M3, M4] = MARKETS;

export function worldOf(protocolId: ProtocolId): LendingRow[] {
  const usdc = { address: USDC, symbol: "USDC" };
  const weth = { address: WETH, symbol: "WETH" };
  const nope = { address: NOPE, symbol: "NOPE" };
  return [
    vaultRow({ protocolId, address: V1, curator: KNOWN, underlying: usdc, supply: 3_000, symbol: "v1" }),
    vaultRow({ protocolId, address: V2, curator: KNOWN, underlying: weth, supply: 2, symbol: "v2" }),
    vaultRow({ protocolId, address: V3, curator: UNKNOWN, underlying: usdc, supply: 5_000, symbol: "v3" }),
    vaultRow({ protocolId, address: V4, curator: UNPRICED, underlying: nope, supply: 9, symbol: "v4" }),
    vaultRow({
      ...{ protocolId, address: V5, curator: null, underlying: usdc, supply: 10, symbol: "v5" },
      borrowable: false,
    }),
    vaultRow({ protocolId, address: address(0xb6), curator: UNPRICED, underlying: usdc, symbol: "v6" }),
    marketRow({ protocolId, marketId: M1, loan: usdc, collateral: weth, supply: 800 }),
    marketRow({ protocolId, marketId: M2, loan: usdc, collateral: nope, supply: 900 }),
    marketRow({ protocolId, marketId: M3, loan: weth, collateral: usdc, supply: 1, available: 0.25 }),
    marketRow({ protocolId, marketId: M4, loan: nope, collateral: weth, supply: 1 }),
    vaultMarketRow({
      protocolId,
      vaultAddress: V1,
      marketId: M1,
      ltv: 0.5,
      allocation: 100,
      supplyCap: null,
    }),
    vaultMarketRow({ protocolId, vaultAddress: V1, marketId: M2, ltv: 0.9, allocation: 600, supplyCap: 5 }),
    vaultMarketRow({ protocolId, vaultAddress: V2, marketId: M3, loan: weth, allocation: 0.5, supplyCap: 3 }),
    vaultMarketRow({ protocolId, vaultAddress: V4, marketId: M4, loan: nope }),
  ];
}

/** Calls the endpoint over the rows of its protocol. */
export function askerOf<E extends Endpoint>({
  endpoint,
  createHandler,
  protocol,
}: EndpointUnderTest<E>): {
  rows: (query?: string) => Promise<RowObject[]>;
  refusal: (query: string) => Promise<unknown>;
} {
  const handler = async () =>
    createHandler(await depsOf({ protocol, rows: worldOf(protocol), prices: PRICES }));
  return {
    rows: async (query) => rowsOf(endpoint, await handler(), query),
    refusal: async (query) =>
      callHandler(endpoint, await handler(), query).then(
        () => undefined,
        (error: unknown) => error,
      ),
  };
}

/** A list of all vaults: …/vaults. */
export function describeVaults<E extends Endpoint>(suite: EndpointUnderTest<E>): void {
  describe(`GET ${suite.endpoint.path}`, () => {
    const { rows } = askerOf(suite);
    const symbols = async (query: string) => (await rows(query)).map(({ symbol }) => symbol);

    it("has every vault, with a curator or without, the largest first", async () => {
      expect(await symbols("")).to.deep.equal(["v3", "v2", "v1", "v6", "v5", "v4"]);
      const [first] = await rows();
      expect(first).to.include({ protocolId: suite.protocol, vaultAddress: V3, tvlUsd: 5_000 });
    });

    it("subtracts the fees from what suppliers earn", async () => {
      const [first] = await rows();
      expect(first?.netSupplyApy).to.be.closeTo(0.03 * 0.9, 1e-15);
    });

    it("filters by vault, token, borrowing and size", async () => {
      expect(await symbols(`vault_address=${V2}`)).to.deep.equal(["v2"]);
      expect(await symbols(`underlying_address=${WETH}`)).to.deep.equal(["v2"]);
      expect(await symbols("borrowable=true")).not.to.contain("v5");
      expect(await symbols("min_tvl_usd=4000")).to.deep.equal(["v3", "v2"]);
      expect(await symbols(`vault_address=${V2}&underlying_address=${USDC}`)).to.deep.equal([]);
      expect(await symbols("protocol_id=other")).to.deep.equal([]);
    });
  });
}

/** The vaults of one curator: …/curator/vaults. */
export function describeCuratorVaults<E extends Endpoint>(suite: EndpointUnderTest<E>): void {
  describe(`GET ${suite.endpoint.path}`, () => {
    const { rows } = askerOf(suite);

    it("has the vaults of the curator and no others, named by the registry", async () => {
      const found = await rows(`curator_address=${KNOWN}`);
      expect(found.map(({ poolAddress }) => poolAddress)).to.deep.equal([V2, V1]);
      for (const row of found) {
        expect(row).to.include({
          curatorAddress: KNOWN,
          curatorName: "Known Capital",
          protocolId: suite.protocol,
        });
      }
      expect(await rows(`curator_address=${KNOWN}&underlying_address=${USDC}`)).to.have.length(1);
      expect(await rows(`curator_address=${KNOWN}&min_tvl_usd=3001`)).to.have.length(1);
      expect(await rows(`curator_address=${KNOWN}&limit=1&offset=1`)).to.have.length(1);
    });

    it("names a curator that is not listed by its address", async () => {
      const [row] = await rows(`curator_address=${UNKNOWN}`);
      expect(row).to.include({ curatorAddress: UNKNOWN, curatorName: UNKNOWN });
    });

    it("is empty for an address that curates nothing", async () => {
      expect(await rows(`curator_address=${address(0xdead)}`)).to.deep.equal([]);
    });
  });
}

/** …/curators. */
export function describeCurators<E extends Endpoint>(suite: EndpointUnderTest<E>): void {
  describe(`GET ${suite.endpoint.path}`, () => {
    const { rows } = askerOf(suite);
    const shared = {
      ...{ chainId: 8453, protocolId: suite.protocol, updatedAt: "2023-11-14T22:20:00+00:00" },
      listed: true,
    };
    const known = {
      ...{ ...shared, curatorAddress: KNOWN, curatorName: "Known Capital", verified: true },
      ...{ totalTvlUsd: 7_000, vaultCount: 2 },
    };
    const unknown = {
      ...{ ...shared, curatorAddress: UNKNOWN, curatorName: UNKNOWN, verified: false },
      ...{ totalTvlUsd: 5_000, vaultCount: 1 },
    };
    const unpriced = {
      ...{ ...shared, curatorAddress: UNPRICED, curatorName: UNPRICED, verified: false },
      ...{ totalTvlUsd: null, vaultCount: 2 },
    };

    it("adds up the vaults of each; one without a price leaves the sum unknown", async () => {
      expect(await rows()).to.deep.equal([known, unknown, unpriced]);
    });

    it("filters and orders", async () => {
      expect(await rows("min_tvl_usd=1")).to.deep.equal([known, unknown]);
      expect(await rows("min_tvl_usd=6000")).to.deep.equal([known]);
      expect(await rows("min_tvl_usd=0")).to.have.length(3);
      expect(await rows("order_asc=totalTvlUsd")).to.deep.equal([unknown, known, unpriced]);
      expect(await rows("order_desc=vaultCount,curatorAddress&limit=2")).to.deep.equal([unpriced, known]);
      expect(await rows("order_asc=verified,curatorName")).to.deep.equal([unknown, unpriced, known]);
      expect(await rows("protocol_id=other")).to.deep.equal([]);
    });
  });
}

/** …/markets; `ltv` is the name of its column. */
export function describeMarkets<E extends Endpoint>(
  suite: EndpointUnderTest<E> & { ltv: "ltv" | "lltv" },
): void {
  describe(`GET ${suite.endpoint.path}`, () => {
    const { rows } = askerOf(suite);
    const ids = async (query: string) => (await rows(query)).map(({ marketId }) => marketId);

    it("answers every column of a market", async () => {
      const [market] = await rows(`loan_address=${WETH}`);
      expect(market).to.deep.equal({
        ...{ chainId: 8453, protocolId: suite.protocol, marketId: M3 },
        ...{ loanAddress: WETH, loanSymbol: "WETH", collateralAddress: USDC, collateralSymbol: "USDC" },
        ...{ supplyUsd: 2_000, borrowUsd: 4_000_000, tvlUsd: 2_000, availableLiquidityUsd: 500 },
        ...{ supplyApy: 0.02, borrowApy: 0.04, utilizationRate: 0.4, [suite.ltv]: 0.86 },
        ...{ updatedAt: "2023-11-14T22:20:00+00:00", priceSource: "dex", priceAgeSeconds: 0, listed: true },
      });
    });

    it("lists the largest first, and filters by either token and size", async () => {
      expect(await ids("")).to.deep.equal([M3, M2, M1, M4]);
      expect(await ids(`loan_address=${USDC}`)).to.deep.equal([M2, M1]);
      expect(await ids(`collateral_address=${WETH}`)).to.deep.equal([M1, M4]);
      expect(await ids(`collateral_address=${WETH}&loan_address=${USDC}`)).to.deep.equal([M1]);
      expect(await ids("min_tvl_usd=900")).to.deep.equal([M3, M2]);
      expect(await ids("order_asc=tvlUsd")).to.deep.equal([M1, M2, M3, M4]);
      expect(await ids(`order_asc=collateralSymbol&order_desc=,loanSymbol`)).to.deep.equal([M2, M3, M1, M4]);
    });
  });
}

/** …/vault/markets, whichever its columns. */
export function describeVaultMarkets<E extends Endpoint>(
  suite: EndpointUnderTest<E> & { ltv: "ltv" | "lltv"; columns: (usd: number | null) => RowObject },
): void {
  describe(`GET ${suite.endpoint.path}`, () => {
    const { rows, refusal } = askerOf(suite);

    it("answers every column of a vault's markets, the largest market first", async () => {
      const shared = {
        ...{ chainId: 8453, protocolId: suite.protocol, loanAddress: USDC, loanSymbol: "USDC" },
        ...{ collateralAddress: WETH, collateralSymbol: "WETH" },
        ...{ supplyApy: 0.02, borrowApy: 0.04, utilizationRate: 0.4 },
        ...{ updatedAt: "2023-11-14T22:20:00+00:00", priceSource: "dex", priceAgeSeconds: 0 },
      };
      expect(await rows(`vault_address=${V1}`)).to.deep.equal([
        { ...shared, marketId: M2, [suite.ltv]: 0.9, ...suite.columns(600), supplyCapUsd: 5 },
        { ...shared, marketId: M1, [suite.ltv]: 0.5, ...suite.columns(100), supplyCapUsd: null },
      ]);
      const [inEther] = await rows(`vault_address=${V2}`);
      expect(inEther).to.include({ ...suite.columns(1_000), supplyCapUsd: 6_000 });
      const [unpriced] = await rows(`vault_address=${V4}`);
      expect(unpriced).to.include({ ...suite.columns(null), supplyCapUsd: null });
    });

    it("orders by its columns", async () => {
      const ids = async (query: string) =>
        (await rows(`vault_address=${V1}&${query}`)).map(({ marketId }) => marketId);
      expect(await ids("order_asc=marketId")).to.deep.equal([M1, M2]);
      expect(await ids(`order_asc=${suite.ltv}`)).to.deep.equal([M1, M2]);
      expect(await ids("order_asc=supplyCapUsd")).to.deep.equal([M2, M1]);
      expect(await ids("order_desc=loanSymbol")).to.deep.equal([M2, M1]);
    });

    it("is empty for a vault without markets, and 404 for what is no vault", async () => {
      expect(await rows(`vault_address=${V3}`)).to.deep.equal([]);
      for (const query of [`vault_address=${address(0xdead)}`, `vault_address=${V1}&chain_id=1`]) {
        const error = await refusal(query);
        expect(error).to.be.instanceOf(ServiceError).and.include({ code: "not_found" });
        expect((error as Error).message).to.match(/^No vault 0x\w{40} is known on chain \d+\.$/);
      }
    });
  });
}
