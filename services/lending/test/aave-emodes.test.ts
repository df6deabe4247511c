import { expect } from "chai";
import { after, before, it } from "mocha";
import { encodeDeployData, encodeFunctionData, getContractAddress, type Hex } from "viem";
import { eModePool, facilitatorToken } from "../../../deploy/devnet/contracts/aave/artifacts.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import type { RawLog } from "../../shared/evm/port.ts";
import { describeWithChain } from "../../shared/testkit/describe.ts";
import { aaveV3 } from "../protocols/aave-v3/protocol.ts";
import type { AaveDeployment } from "../protocols/aave-v3/state.ts";
import type { VaultRow } from "../protocols/rows.ts";
import { ProtocolUnits, plainReader } from "./read-protocol.ts";

/** A reserve's configuration: 18 decimals, active; ltv and liquidation threshold in hundredths of a percent. */
const configuration = ({ ltv = 0, threshold = 0, flags = 0n } = {}) =>
  BigInt(ltv) | (BigInt(threshold) << 16n) | (18n << 48n) | (1n << 56n) | flags;
const BORROWING = 1n << 58n;
/** Of v3.0 to v3.6: borrowable by who has pledged an isolated token; the only debt of who borrows it. */
const [ISOLATED, SILOED] = [1n << 61n, 1n << 62n];

type Call = Parameters<typeof encodeFunctionData<typeof eModePool.abi>>[0];

describeWithChain("aave-v3: reserves by the rules of each version", () => {
  let chain: TestChain;
  let weth: Hex;
  let dai: Hex;
  let pool: Hex;
  let units: ProtocolUnits<AaveDeployment>;
  let user: Hex;

  before(async () => {
    chain = await createTestChain({ poolCount: 1 });
    user = chain.accounts[0] as Hex;
    [weth, dai] = [chain.deployment.tokens.WETH.address, chain.deployment.tokens.DAI.address];
  });
  after(() => chain.stop());

  const deploy = async (data: Hex): Promise<Hex> => {
    const nonce = await chain.client.getTransactionCount({ address: user });
    await mined([{ from: user, data, gas: "0x7a1200" }]);
    return getContractAddress({ from: user, nonce: BigInt(nonce) }).toLowerCase() as Hex;
  };
  const mined = async (transactions: Parameters<TestChain["sendTransactions"]>[0]): Promise<void> => {
    const hashes = await chain.sendTransactions(transactions);
    await chain.mine();
    for (const hash of hashes)
      expect((await chain.client.getTransactionReceipt({ hash })).status).to.equal("success");
  };
  const openMarket = async (revision: bigint): Promise<void> => {
    pool = await deploy(encodeDeployData({ ...eModePool, args: [revision] }));
    const deployment = { markets: [{ name: "Modes", provider: pool }] };
    units = new ProtocolUnits({ protocol: aaveV3, deployment });
    await units.readRoots(await plainReader(chain.anvil.rpc, await chain.headNumber()));
  };
  /** Sends calls to the pool and follows their events; returns the affected kinds. */
  const act = async (...calls: Call[]): Promise<string[]> => {
    const from = await chain.headNumber();
    await mined(
      calls.map((call) => ({
        ...{ from: user, to: pool, data: encodeFunctionData(call) },
        gas: "0x2dc6c0" as const,
      })),
    );
    const found = await chain.client.getLogs({ address: pool, fromBlock: BigInt(from + 1) });
    const touched = units.affectedEntities(
      found.map((log) => ({ ...log, address: pool }) as never as RawLog),
    );
    await units.read(touched, await plainReader(chain.anvil.rpc, await chain.headNumber()));
    return touched.map(({ kind }) => kind);
  };
  const on = <N extends Call["functionName"]>(functionName: N, args: readonly unknown[]): Call =>
    ({ abi: eModePool.abi, functionName, args }) as Call;
  const rowOf = async (asset: Hex): Promise<VaultRow> => {
    const { timestamp: time } = await chain.header(await chain.headNumber());
    const rows = units.rows({ chainId: 8453, time }) as VaultRow[];
    const row = rows.find(({ underlying }) => underlying.address === asset);
    if (row === undefined) throw new Error(`There is no row of ${asset}.`);
    return row;
  };
  /** Whether the pool would lend to an account in an efficiency mode. */
  const lends = async (asset: Hex, mode: number): Promise<boolean> => {
    await act(on("setUserEMode", [mode]));
    const data = encodeFunctionData(on("borrow", [asset, 10n ** 18n, 2n, 0, user]));
    return chain.client.call({ account: user, to: pool, data }).then(
      () => true,
      () => false,
    );
  };

  const LIQUIDITY = 1_000n * 10n ** 18n;

  it("are borrowable where an efficiency mode alone lends them, since v3.6", async () => {
    await openMarket(10n);
    await act(on("initReserve", [weth, configuration(), LIQUIDITY]));
    expect(await rowOf(weth)).to.include({
      borrowable: false,
      ltv: null,
      available: 1_000,
      depositEnabled: true,
    });
    expect(await act(on("setEModeCategory", [1, 9_300, 9_500, 10_100]))).to.deep.equal(["aave-market"]);
    expect(await lends(weth, 1)).to.equal(false);
    expect(await act(on("setAssetBorrowableInEMode", [weth, 1, true]))).to.deep.equal(["aave-market"]);
    expect([await lends(weth, 0), await lends(weth, 1)]).to.deep.equal([false, true]);
    expect(await rowOf(weth)).to.include({ borrowable: true });
    await act(on("setAssetBorrowableInEMode", [weth, 1, false]));
    expect(await rowOf(weth)).to.include({ borrowable: false });
    await act(on("setReserveBorrowing", [weth, true]));
    expect([await lends(weth, 0), await lends(weth, 1)]).to.deep.equal([true, false]);
    expect(await rowOf(weth)).to.include({ borrowable: true });
  });

  it("show the LTV of the efficiency modes where they are collateral in those alone, since v3.6", async () => {
    await openMarket(11n);
    await act(
      on("initReserve", [weth, configuration(), LIQUIDITY]),
      on("initReserve", [dai, configuration({ ltv: 6_300, threshold: 7_700 }), LIQUIDITY]),
      on("setEModeCategory", [2, 9_000, 9_500, 10_100]),
      // Ids have gaps.
      on("setEModeCategory", [17, 8_000, 8_500, 10_100]),
    );
    expect((await rowOf(weth)).ltv).to.equal(null);
    const collateral = (asset: Hex, mode: number) => on("setAssetCollateralInEMode", [asset, mode, true]);
    expect(await act(collateral(weth, 17))).to.deep.equal(["aave-market"]);
    expect((await rowOf(weth)).ltv).to.equal(0.8);
    await act(collateral(weth, 2), collateral(dai, 2));
    expect([(await rowOf(weth)).ltv, (await rowOf(dai)).ltv]).to.deep.equal([0.9, 0.63]);
    expect(await act(on("setAssetLtvzeroInEMode", [weth, 2, true]))).to.deep.equal(["aave-market"]);
    expect((await rowOf(weth)).ltv).to.equal(0.8);
  });

  it("need the reserve's own flag before v3.6, whatever an efficiency mode says", async () => {
    await openMarket(9n);
    await act(
      on("initReserve", [weth, configuration(), LIQUIDITY]),
      on("setEModeCategory", [1, 9_300, 9_500, 10_100]),
      on("setAssetBorrowableInEMode", [weth, 1, true]),
      on("setAssetCollateralInEMode", [weth, 1, true]),
    );
    expect(await rowOf(weth)).to.include({ borrowable: false, ltv: null });
  });

  it("are not borrowable without liquidity, and are with limits of an account's position alone", async () => {
    await openMarket(6n);
    const virtual = 1n << 252n;
    await act(
      on("initReserve", [weth, configuration({ flags: BORROWING | virtual }), 0n]),
      on("initReserve", [dai, configuration({ flags: BORROWING | virtual | ISOLATED | SILOED }), LIQUIDITY]),
    );
    expect(await rowOf(weth)).to.include({ borrowable: false, available: 0, depositEnabled: true });
    expect(await rowOf(dai)).to.include({ borrowable: true, available: 1_000, depositEnabled: true });
    // Frozen, then paused.
    const [frozen, paused] = [1n << 57n, 1n << 60n];
    await openMarket(6n);
    await act(
      on("initReserve", [weth, configuration({ flags: BORROWING | virtual | frozen }), LIQUIDITY]),
      on("initReserve", [dai, configuration({ flags: BORROWING | virtual | paused }), LIQUIDITY]),
    );
    expect(await rowOf(weth)).to.include({ borrowable: false, available: 1_000, depositEnabled: false });
    expect(await rowOf(dai)).to.include({ borrowable: false, available: 0, depositEnabled: false });
  });

  it("of GHO up to v3.3 lend what their bucket leaves, though nobody supplies", async () => {
    await openMarket(6n);
    const gho = await deploy(facilitatorToken.bytecode);
    const setBucket = async (capacity: bigint, level: bigint) => {
      const call = { ...facilitatorToken, functionName: "setBucket", args: [capacity, level] } as const;
      await mined([{ from: user, to: gho, data: encodeFunctionData(call), gas: "0x30d40" }]);
      await act(on("setReserveBorrowing", [gho, true]));
    };
    await act(on("initReserve", [gho, configuration({ flags: BORROWING }), 0n]));
    expect(await rowOf(gho)).to.include({ symbol: "aToken", borrowable: false });
    await setBucket(100n, 60n);
    expect(await rowOf(gho)).to.include({ borrowable: true, depositEnabled: false, available: 0 });
    await setBucket(100n, 100n);
    expect(await rowOf(gho)).to.include({ borrowable: false, depositEnabled: false });
  });
});
