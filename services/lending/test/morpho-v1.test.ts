import { expect } from "chai";
import { after, before, it } from "mocha";
import { type Hex, maxUint256, zeroAddress } from "viem";
import { morphoAbi } from "../../../deploy/devnet/contracts/morpho/abi.ts";
import type { MorphoMarketName, MorphoVaultName } from "../../../deploy/devnet/morpho/market.ts";
import type { MorphoActors } from "../../../deploy/devnet/morpho/plan.ts";
import { createTestChain, type TestChain } from "../../../deploy/devnet/testkit.ts";
import type { RawLog } from "../../shared/evm/port.ts";
import { describeWithChain, itThorough } from "../../shared/testkit/describe.ts";
import { morphoV1 } from "../protocols/morpho-v1/protocol.ts";
import { type EntityRef, UnreadableEntity } from "../protocols/protocol.ts";
import { createMorphoScene, type MorphoScene, nameOf } from "./morpho-scene.ts";
import { ofWad } from "./morpho-truth.ts";
import { ProtocolUnits, plainReader } from "./read-protocol.ts";

const [HOUR_S, DAY_S, YEAR_S] = [3_600, 86_400, 31_536_000];
const [USDC, AERO, WETH] = [10n ** 6n, 10n ** 18n, 10n ** 18n];

describeWithChain("Morpho on the chain", () => {
  let chain: TestChain;
  let scene: MorphoScene;
  let actors: MorphoActors;

  before(async () => {
    chain = await createTestChain({ timestamp: 1_760_000_000, poolCount: 1, families: ["morpho-v1"] });
    scene = createMorphoScene(chain);
    actors = scene.kit.deployment.actors;
  });
  after(() => chain.stop());

  const market = (name: MorphoMarketName) => scene.market(name);
  const address = (name: MorphoVaultName) => scene.vault(name).address;
  /** The names of entities, as `settle` returns them. */
  const unitsOf = (...names: (MorphoMarketName | MorphoVaultName)[]) =>
    names
      .map((name) =>
        name in scene.kit.deployment.markets
          ? `morpho-market ${market(name as MorphoMarketName).id}`
          : `metamorpho-vault ${address(name as MorphoVaultName)}`,
      )
      .sort();
  const allUnits = () =>
    unitsOf(
      ...(Object.keys(scene.kit.deployment.markets) as MorphoMarketName[]),
      ...(Object.keys(scene.kit.deployment.vaults) as MorphoVaultName[]),
    );

  /** All of them were made by the owner. */
  const allCreated = () => {
    const { vaults, actors } = scene.kit.deployment;
    const made = Object.values(vaults).map(
      ({ address: id }) => `metamorpho-creation ${id}:${actors.owner.toLowerCase()}`,
    );
    return [...allUnits(), ...made].sort();
  };

  it("finds every market and vault by its creation and agrees with the contracts on every column", async () => {
    expect(await scene.settle([])).to.deep.equal(allCreated());
    await scene.expectTruth();
  });

  it("finds the same entities by the scans alone, and markets by the queues of vaults", async () => {
    const { deployment } = scene;
    const scanned: EntityRef[] = [];
    for (const scan of morphoV1.scans(deployment)) {
      const range = { fromBlock: `0x${scan.fromBlock.toString(16)}`, toBlock: "latest" };
      const filter = { ...range, address: scan.addresses, topics: [scan.topics] };
      const logs = await chain.anvil.rpc.call<RawLog[]>("eth_getLogs", [filter]);
      scanned.push(...new ProtocolUnits({ protocol: morphoV1, deployment }).affectedEntities(logs));
    }
    expect(scanned.map(nameOf).sort()).to.deep.equal(allCreated());
    const units = new ProtocolUnits({ protocol: morphoV1, deployment });
    const reader = await plainReader(chain.anvil.rpc, await chain.headNumber());
    await units.read(
      scanned.filter(({ kind }) => kind === "metamorpho-vault"),
      reader,
    );
    expect([...units.table.all("morpho-market")].map(({ id }) => id)).to.have.members(
      Object.values(scene.kit.deployment.markets).map(({ id }) => id),
    );
  });

  it("has an idle market, a nearly full one, a vault without curator and an empty one as they are", async () => {
    const idle = await scene.marketRow("idleUsdc");
    expect(idle).to.include({ utilizationRate: 0, supplyApy: 0, borrowApy: 0, ltv: 0, borrow: 0 });
    expect(idle.collateral).to.deep.equal({ address: zeroAddress, symbol: "" });
    expect((await scene.marketRow("aeroUsdc")).utilizationRate).to.be.within(0.99, 1);
    const { curator, owner } = actors;
    expect(await scene.vaultRow("prime")).to.include({ curator, supplyCap: null, performanceFee: 0.1 });
    expect(await scene.vaultRow("ether")).to.include({ curator: owner, ltv: 0.625, symbol: "plainWETH" });
    const nothing = { supply: 0, borrow: 0, available: 0, supplyApy: 0, borrowApy: 0, utilizationRate: 0 };
    const empty = await scene.vaultRow("empty");
    expect(empty).to.include({ ...nothing, supplyCap: 500_000, depositEnabled: true, borrowable: false });
  });

  it("follows supplies, loans, repayments and withdrawals", async () => {
    const { supplier, borrower } = actors;
    const { params } = market("wethUsdc");
    const lent = [
      await scene.kit.morpho(supplier, "supply", [params, 250_000n * USDC, 0n, supplier, "0x"]),
      await scene.kit.morpho(borrower, "borrow", [params, 123_456n * USDC, 0n, borrower, borrower]),
    ];
    expect(await scene.settle(lent)).to.deep.equal(unitsOf("wethUsdc"));
    await scene.expectTruth();

    const { params: ofAero } = market("aeroWeth");
    const back = [
      await scene.kit.morpho(borrower, "repay", [ofAero, 0n, 10n ** 23n, borrower, "0x"]),
      await scene.kit.morpho(supplier, "withdraw", [ofAero, WETH / 3n, 0n, supplier, supplier]),
    ];
    expect(await scene.settle(back, { intervalS: HOUR_S })).to.deep.equal(unitsOf("aeroWeth"));
    await scene.expectTruth();
  });

  it("follows collateral: putting it in accrues nothing, taking it out does", async () => {
    const { borrower } = actors;
    const { params } = market("wbtcUsdc");
    const pledge = await scene.kit.morpho(borrower, "supplyCollateral", [params, 10n ** 8n, borrower, "0x"]);
    expect(await scene.settle([pledge], { intervalS: DAY_S })).to.deep.equal(unitsOf("wbtcUsdc"));
    await scene.expectTruth();
    const args = [params, 10n ** 8n, borrower, borrower] as const;
    const release = await scene.kit.morpho(borrower, "withdrawCollateral", args);
    expect(await scene.settle([release], { intervalS: DAY_S })).to.deep.equal(unitsOf("wbtcUsdc"));
    await scene.expectTruth();
  });

  it("follows what goes into a vault, out of it, and what is supplied on its behalf", async () => {
    const { supplier } = actors;
    const prime = [supplier, address("prime")] as const;
    const deposit = await scene.kit.vault(prime, "deposit", [777_777n * USDC, supplier]);
    expect(await scene.settle([deposit])).to.include.members(unitsOf("prime", "idleUsdc"));
    await scene.expectTruth();
    const some = await scene.kit.vault(prime, "withdraw", [1_000_001n, supplier, supplier]);
    expect(await scene.settle([some], { intervalS: HOUR_S })).to.include.members(unitsOf("prime"));
    await scene.expectTruth();
    const ether = [supplier, address("ether")] as const;
    const shares = await scene.kit.vault(ether, "redeem", [WETH, supplier, supplier]);
    expect(await scene.settle([shares])).to.deep.equal(unitsOf("ether", "aeroWeth"));
    await scene.expectTruth();
    const { params } = market("wbtcUsdc");
    const gift = await scene.kit.morpho(supplier, "supply", [params, 5n * USDC, 0n, address("empty"), "0x"]);
    expect(await scene.settle([gift])).to.deep.equal(unitsOf("empty", "wbtcUsdc"));
    await scene.expectTruth();
    expect((await scene.vaultRow("empty")).supply).to.be.closeTo(5, 1e-5);
  });

  it("follows a market's fee, and what it leaves to vaults", async () => {
    const before = (await scene.vaultRow("keeper")).supplyApy as number;
    const hash = await scene.kit.morpho(actors.owner, "setFee", [market("aeroUsdc").params, ofWad(0.25)]);
    expect(await scene.settle([hash])).to.deep.equal(unitsOf("aeroUsdc"));
    await scene.expectTruth();
    expect((await scene.vaultRow("keeper")).supplyApy).to.be.below(before);
  });

  itThorough(
    "follows a cap: submitted, revoked, accepted, lowered to nothing, and its market's removal",
    async () => {
      const { owner, curator } = actors;
      const byCurator = [curator, address("empty")] as const;
      const byOwner = [owner, address("empty")] as const;
      const { id, params } = market("wethUsdc");
      const follow = async (...hashes: Hex[]) => {
        expect(await scene.settle(hashes)).to.deep.equal(unitsOf("empty"));
        await scene.expectTruth();
      };
      const pending = () => scene.marketOf("empty", "wbtcUsdc")?.pendingCap.value;
      const added = () => scene.marketOf("empty", "wethUsdc");

      const { id: known, params: ofKnown } = market("wbtcUsdc");
      await follow(
        await scene.kit.vault(byCurator, "submitCap", [params, 9_000n * USDC]),
        await scene.kit.vault(byCurator, "submitCap", [ofKnown, 900_000n * USDC]),
      );
      expect([added(), pending()]).to.deep.equal([undefined, 900_000n * USDC]);
      await follow(await scene.kit.vault(byOwner, "revokePendingCap", [known]));
      expect(pending()).to.equal(0n);

      await chain.mine(1, { intervalS: DAY_S });
      await follow(await scene.kit.vault(byCurator, "acceptCap", [params]));
      expect(added()).to.include({ cap: 9_000n * USDC, enabled: true });
      expect((await scene.vaultRow("empty")).supplyCap, "not in the supply queue").to.be.closeTo(
        500_000,
        2e-6,
      );
      await follow(await scene.kit.vault(byCurator, "submitCap", [params, 0n]));
      expect(added()).to.include({ cap: 0n, enabled: true });

      await follow(await scene.kit.vault(byCurator, "submitMarketRemoval", [params]));
      const { timestamp } = await chain.header(await chain.headNumber());
      expect(added()?.removableAt).to.equal(timestamp + DAY_S);
      await follow(await scene.kit.vault(byCurator, "revokePendingMarketRemoval", [id]));
      expect(added()?.removableAt).to.equal(0);
      await follow(await scene.kit.vault(byOwner, "updateWithdrawQueue", [[0n]]));
      expect(added()).to.equal(undefined);
    },
  );

  it("follows reallocations and queues", async () => {
    const byAllocator = [actors.allocator, address("prime")] as const;
    const moves = [
      { marketParams: market("wbtcUsdc").params, assets: 1_500_000n * USDC },
      { marketParams: market("aeroUsdc").params, assets: maxUint256 },
    ];
    const moved = await scene.kit.vault(byAllocator, "reallocate", [moves]);
    expect(await scene.settle([moved])).to.deep.equal(unitsOf("aeroUsdc", "wbtcUsdc", "prime"));
    await scene.expectTruth();

    const follow = async (hash: Hex) => {
      expect(await scene.settle([hash])).to.deep.equal(unitsOf("prime"));
      await scene.expectTruth();
    };
    const queue = [market("wethUsdc").id, market("wbtcUsdc").id, market("wbtcUsdc").id];
    await follow(await scene.kit.vault(byAllocator, "setSupplyQueue", [queue]));
    expect((await scene.vaultRow("prime")).depositEnabled).to.equal(true);
    await follow(await scene.kit.vault(byAllocator, "setSupplyQueue", [[]]));
    const closed = await scene.vaultRow("prime");
    expect(closed).to.include({ supplyCap: closed.supply, depositEnabled: false, borrowable: true });
    await follow(await scene.kit.vault(byAllocator, "updateWithdrawQueue", [[3n, 1n, 2n, 0n]]));
  });

  it("follows fee, curator, guardian and owner of a vault", async () => {
    const { owner, curator, allocator } = actors;
    const byOwner = [owner, address("ether")] as const;
    const first = [
      await scene.kit.vault(byOwner, "setFeeRecipient", [allocator]),
      await scene.kit.vault(byOwner, "setFee", [ofWad(0.125)]),
      await scene.kit.vault(byOwner, "setCurator", [curator]),
      await scene.kit.vault(byOwner, "submitGuardian", [allocator]),
      await scene.kit.vault(byOwner, "transferOwnership", [allocator]),
    ];
    expect(await scene.settle(first, { intervalS: DAY_S })).to.deep.equal(unitsOf("ether"));
    await scene.expectTruth();
    expect(await scene.vaultRow("ether")).to.include({ performanceFee: 0.125, curator });
    const second = [
      await scene.kit.vault(byOwner, "setCurator", [zeroAddress]),
      await scene.kit.vault([allocator, address("ether")], "acceptOwnership", []),
    ];
    expect(await scene.settle(second)).to.deep.equal(unitsOf("ether"));
    await scene.expectTruth();
    expect((await scene.vaultRow("ether")).curator).to.equal(allocator);
    const ofState = { guardian: allocator, feeRecipient: allocator, timelock: DAY_S };
    expect(scene.vaultState("ether")).to.include(ofState);
  });

  it("follows a vault of v1.1 to another name", async () => {
    const hash = await scene.kit.rename(address("keeper"), { name: "Renamed USDC", symbol: "newUSDC" });
    expect(await scene.settle([hash])).to.deep.equal(unitsOf("keeper"));
    await scene.expectTruth();
    const names = { vaultName: "Renamed USDC", symbol: "newUSDC" };
    expect(await scene.vaultRow("keeper")).to.include(names);
  });

  it("knows of bad debt: v1.0 forgets what a market lost, v1.1 counts it still", async () => {
    const { supplier, borrower } = actors;
    const { id, params, price } = market("aeroUsdc");
    const { morpho } = scene.kit.deployment;
    const read = { address: morpho, abi: morphoAbi, functionName: "position", args: [id, borrower] } as const;
    const [, , collateral] = await chain.client.readContract(read);
    const before = [await scene.vaultRow("prime"), await scene.vaultRow("keeper")].map(
      ({ supply }) => supply,
    );
    const crash = [
      await scene.kit.setPrice(market("aeroUsdc"), price / 4n),
      await scene.kit.morpho(supplier, "liquidate", [params, borrower, collateral, 0n, "0x"]),
    ];
    expect(await scene.settle(crash)).to.deep.equal(unitsOf("aeroUsdc"));
    await scene.expectTruth();
    const after_ = [await scene.vaultRow("prime"), await scene.vaultRow("keeper")].map(
      ({ supply }) => supply,
    );
    expect(after_[0]).to.be.below((before[0] as number) - 100_000);
    // What it had earned since its last accrual is lost with the rest; what it had then is not.
    expect(after_[1]).to.equal(700_000);

    expect(scene.vaultState("keeper").lostAssets, "before it accrued").to.equal(0n);
    const keeper = [supplier, address("keeper")] as const;
    const poke = await scene.kit.vault(keeper, "deposit", [1_000n * USDC, supplier]);
    expect(await scene.settle([poke])).to.include.members(unitsOf("keeper"));
    await scene.expectTruth();
    expect(scene.vaultState("keeper").lostAssets).to.be.a("bigint");
    expect((scene.vaultState("keeper").lostAssets as bigint) > 100_000n * USDC).to.equal(true);
    await scene.kit.setPrice(market("aeroUsdc"), price);
    expect(await scene.settle([])).to.deep.equal([]);
  });

  it("says a day and a year later what the contracts say, without reading anything again", async () => {
    const { supplier, borrower } = actors;
    const { params } = market("aeroUsdc");
    // The market that lost its loans gets others: interest everywhere.
    const refill = [
      await scene.kit.morpho(borrower, "supplyCollateral", [params, 5_000_000n * AERO, borrower, "0x"]),
      await scene.kit.morpho(borrower, "borrow", [params, 250_000n * USDC, 0n, borrower, borrower]),
    ];
    await scene.settle(refill);
    const blocks = () => [...scene.units.table.all("morpho-market")].map(({ block }) => block);
    const before = blocks();
    for (const intervalS of [1, DAY_S, YEAR_S]) {
      await chain.mine(1, { intervalS });
      await scene.expectTruth();
    }
    expect(blocks()).to.deep.equal(before);

    const pokes: Hex[] = [];
    for (const each of Object.values(scene.kit.deployment.markets))
      pokes.push(await scene.kit.morpho(supplier, "accrueInterest", [each.params]));
    expect(await scene.settle(pokes)).to.deep.equal(unitsOf("wethUsdc", "wbtcUsdc", "aeroUsdc", "aeroWeth"));
    await scene.expectTruth();
  });

  it("cannot read what is no market, no vault, or a vault of another Morpho", async () => {
    const { deployment, units } = scene;
    const reader = await plainReader(chain.anvil.rpc, await chain.headNumber());
    const { USDC: token } = chain.deployment.tokens;
    const strangers: readonly [EntityRef, RegExp][] = [
      [{ kind: "morpho-market", id: `0x${"7".repeat(64)}` }, /has no market 0x7777/],
      [{ kind: "metamorpho-vault", id: actors.owner }, /reverts/],
      [{ kind: "metamorpho-vault", id: token.address }, /reverts/],
    ];
    for (const [ref, message] of strangers) {
      const error = await units.read([ref], reader).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(UnreadableEntity);
      expect((error as Error).message).to.match(message);
    }
    const ofAnother = { ...deployment, morpho: token.address };
    const elsewhere = new ProtocolUnits({ protocol: morphoV1, deployment: ofAnother });
    const prime = { kind: "metamorpho-vault", id: address("prime") };
    const error = await elsewhere.read([prime], reader).catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(UnreadableEntity);
    expect((error as Error).message).to.contain(`is a vault on ${deployment.morpho}`);
  });

  it("ignores the same logs of unknown contracts, and of vaults that no factory created", async () => {
    const logs = await scene.logs(0);
    expect(logs.length).to.be.above(150);
    const stranger: Hex = `0x${"5".repeat(40)}`;
    expect(scene.units.affectedEntities(logs.map((log) => ({ ...log, address: stranger })))).to.deep.equal(
      [],
    );
    const vaults = Object.values(scene.kit.deployment.vaults).map((each) => each.address);
    const ofVaults = logs.filter((log) => vaults.includes(log.address));
    expect(ofVaults.length).to.be.above(50);
    const emptyUnits = new ProtocolUnits({ protocol: morphoV1, deployment: scene.deployment });
    expect(emptyUnits.affectedEntities(ofVaults)).to.deep.equal([]);
  });
});
