import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { type Abi, encodeEventTopics, encodeFunctionData, type Hex, toEventSelector } from "viem";
import { describeThorough } from "../../../services/shared/testkit/describe.ts";
import { pancakePoolAbi } from "../contracts/pancake/abi.ts";
import { slipstreamFactoryAbi, slipstreamGaugeAbi, slipstreamPoolAbi } from "../contracts/slipstream/abi.ts";
import * as artifacts from "../contracts/slipstream/artifacts.ts";
import { factoryAbi, poolAbi, poolAddresses } from "../contracts/uniswap.ts";
import { type Action, deskTransaction } from "../desk.ts";
import { basePositions, CREATION_GAS, type DeployedPool } from "../pools.ts";
import { createRandom, type Random } from "../random.ts";
import { createTestChain, type TestChain } from "../testkit.ts";
import type { SlipstreamPool } from "./slipstream.ts";
import { parsePancakeEvents, type SlipstreamEvent } from "./testkit.ts";

const GENESIS_S = 1_760_000_000;
const Q96 = 2n ** 96n;

/** As the originals emit them on Base. */
const TOPICS: readonly (readonly [Abi, string, Hex])[] = [
  [slipstreamFactoryAbi, "PoolCreated", "0xab0d57f0df537bb25e80245ef7748fa62353808c54d6e528a9dd20887aed9ac2"],
  [
    slipstreamFactoryAbi,
    "TickSpacingEnabled",
    "0xebafae466a4a780a1d87f5fab2f52fad33be9151a7f69d099e8934c8de85b747",
  ],
  [slipstreamPoolAbi, "Initialize", "0x98636036cb66a9c19a37435efc1e90142190214e8abeb821bdba3f2990dd4c95"],
  [slipstreamPoolAbi, "Mint", "0x7a53080ba414158be7ec69b987b5fb7d07dee101fe85488f0853ae16239d0bde"],
  [slipstreamPoolAbi, "Collect", "0x70935338e69775456a85ddef226c395fb668b63fa0115f5f20610b388e6ca9c0"],
  [slipstreamPoolAbi, "Burn", "0x0c396cd989a39f4459b5fa1aed6a9a8dcdbc45908acfd67e028cd568da98982c"],
  [slipstreamPoolAbi, "Swap", "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67"],
  [slipstreamPoolAbi, "Flash", "0xbdbdb71d7860376ba52b25a5028beea23581364a40522f6bcfb86bb1f2dca633"],
  [slipstreamPoolAbi, "CollectFees", "0x205860e66845f2bbc0966bfab80db9bf93fca93862ea2b9fcf6945748352b4a3"],
  [slipstreamGaugeAbi, "Deposit", "0x1c8ab8c7f45390d58f58f1d655213a82cca5d12179761a87c16f098813b8f211"],
  [slipstreamGaugeAbi, "Withdraw", "0x8903a5b5d08a841e7f68438387f1da20c84dea756379ed37e633ff3854b99b84"],
  [slipstreamGaugeAbi, "ClaimFees", "0xbc567d6cbad26368064baa0ab5a757be46aae4d70f707f9203d9d9b6c8ccbfa3"],
];

describe("devnet: Slipstream's and PancakeSwap's interfaces", () => {
  const compiled = Object.values(artifacts).flatMap(({ abi }) => abi as unknown as Abi);

  for (const [abi, name, topic] of TOPICS) {
    it(`Slipstream's ${name} has the original's topic, in the interface and in the contract`, () => {
      expect(encodeEventTopics({ abi, eventName: name })[0]).to.equal(topic);
      expect(compiled.some((item) => item.type === "event" && toEventSelector(item) === topic)).to.equal(
        true,
      );
    });
  }

  it("PancakeSwap's Swap and SetFeeProtocol have the original's topics", () => {
    const topic = (eventName: "Swap" | "SetFeeProtocol") =>
      encodeEventTopics({ abi: pancakePoolAbi, eventName })[0];
    expect(topic("Swap")).to.equal("0x19b47279256b2a23a1665c810c8d55a1758940ee09377d4f8d26497a3577dc83");
    expect(topic("SetFeeProtocol")).to.equal(
      "0xb3159fed3ddfba67bae294599eafe2d0ec98c08bb38e0e5fb87d33154b6e05aa",
    );
  });
});

describeThorough("devnet: kin of Uniswap v3", () => {
  let chain: TestChain;
  before(async () => {
    chain = await createTestChain({
      timestamp: GENESIS_S,
      poolCount: 1,
      families: ["slipstream", "pancake-v3", "sushi-v3"],
    });
  });
  after(() => chain.stop());

  const argsOf = <N extends SlipstreamEvent["eventName"]>(events: readonly SlipstreamEvent[], name: N) => {
    const found = events.find((event) => event.eventName === name);
    if (!found) throw new Error(`no ${name} among ${events.map(({ eventName }) => eventName)}`);
    return found.args as Extract<SlipstreamEvent, { eventName: N }>["args"];
  };

  it("has every pool where it was planned, of its factory, with the promised depth", async () => {
    const { slipstream, pancake, sushi } = chain.deployment;
    if (!slipstream || !pancake || !sushi) throw new Error("a family is missing");
    for (const { factory, pools } of [pancake, sushi]) {
      const logs = await chain.client.getContractEvents({ address: factory, abi: factoryAbi, fromBlock: 0n });
      const created = logs.flatMap((log) => (log.eventName === "PoolCreated" ? [log.args] : []));
      expect(
        created.map(({ pool, fee, tickSpacing }) => [pool?.toLowerCase(), fee, tickSpacing]),
      ).to.deep.equal(pools.map(({ address, fee, tickSpacing }) => [address, fee, tickSpacing]));
    }
    for (const { address, token0, token1, spec } of [...slipstream.pools, ...pancake.pools, ...sushi.pools]) {
      for (const token of [token0, token1]) {
        const usd =
          (Number(await chain.balanceOf(token.address, address)) / 10 ** token.decimals) * token.usd;
        expect(usd, `${spec.base}/${spec.quote}: ${token.symbol}`).to.be.within(
          0.6 * spec.depthUsd,
          1.05 * spec.depthUsd,
        );
      }
    }
  });

  it("creates Slipstream pools with a price: their Initialize comes before the factory's PoolCreated", async () => {
    const { DAI, ISLE } = chain.deployment.tokens;
    const tokens = [DAI.address, ISLE.address] as const;
    const { hash, address } = await chain.slipstream.createPool({
      tokens,
      tickSpacing: 50,
      sqrtPriceX96: 3n * Q96,
    });
    await chain.mine();
    const events = await chain.slipstream.eventsOf(hash);
    expect(events.map(({ eventName }) => eventName)).to.deep.equal(["Initialize", "PoolCreated"]);
    const created = argsOf(events, "PoolCreated");
    expect([created.pool.toLowerCase(), created.tickSpacing]).to.deep.equal([address, 50]);
    expect((await chain.slipstream.state(address)).fee, "the tick spacing's").to.equal(500);
    // 9 = 1.0001^21973.7
    expect(argsOf(events, "Initialize")).to.deep.equal({ sqrtPriceX96: 3n * Q96, tick: 21_973 });
  });

  it("answers slot0 of a Slipstream pool with six words, of the others with seven", async () => {
    const { slipstream, pancake, sushi } = chain.deployment;
    const data = encodeFunctionData({ abi: poolAbi, functionName: "slot0" });
    const words = async (pool: DeployedPool | undefined) =>
      (((await chain.client.call({ to: pool?.address as Hex, data })).data as Hex).length - 2) / 64;
    expect([
      await words(slipstream?.pools[0]),
      await words(pancake?.pools[0]),
      await words(sushi?.pools[0]),
    ]).to.deep.equal([6, 7, 7]);
  });

  it("does on a Slipstream pool to the last digit what genuine Uniswap v3 does, over 300 random actions", async () => {
    const { tokens, factory, desk, accounts } = chain.deployment;
    const pair = [tokens.DAI.address, tokens.REEF.address].sort() as [Hex, Hex];
    const key = { token0: pair[0], token1: pair[1], fee: 10_000 };
    const genuine = poolAddresses(factory)(key);
    const sqrtPriceX96 = (Q96 * 17n) / 10n;
    const owner = accounts[0] as Hex;
    const create = encodeFunctionData({
      abi: factoryAbi,
      functionName: "createPool",
      args: [...pair, key.fee],
    });
    const price = encodeFunctionData({ abi: poolAbi, functionName: "initialize", args: [sqrtPriceX96] });
    await chain.sendTransactions([
      { from: owner, to: factory, data: create, gas: CREATION_GAS },
      { from: owner, to: genuine, data: price, gas: CREATION_GAS },
    ]);
    const { address: twin } = await chain.slipstream.createPool({
      tokens: pair,
      tickSpacing: 200,
      sqrtPriceX96,
    });
    await chain.mine();
    await chain.slipstream.setSwapFee(twin, key.fee);
    await chain.mine();

    const random = createRandom(42);
    const open: (Action & { kind: "mint" })[] = [];
    const seen = new Set<string>();
    let failures = 0;
    for (let round = 0; round < 30; round++) {
      const actions = Array.from({ length: 10 }, () => randomStep(genuine, open, random));
      // A swap through all prices takes more gas than traders need.
      const transaction = (steps: Action[]) => ({
        ...deskTransaction(desk, owner, steps),
        gas: CREATION_GAS,
      });
      const sent = await chain.sendTransactions(
        actions.flatMap((steps) => [
          transaction(steps),
          transaction(steps.map((step) => ({ ...step, pool: twin }))),
        ]),
      );
      await chain.mine();
      const receipts = await Promise.all(sent.map((hash) => chain.client.getTransactionReceipt({ hash })));
      for (let i = 0; i < receipts.length; i += 2) {
        const [real, own] = [receipts[i], receipts[i + 1]];
        const logs = (receipt: typeof real, pool: Hex) =>
          receipt?.logs.filter((log) => log.address === pool).map(({ topics, data }) => [topics, data]);
        const what = actions[i / 2]?.map((step) => Object.values(step).join(" ")).join(", ");
        expect(own?.status, what).to.equal(real?.status);
        expect(logs(own, twin)).to.deep.equal(logs(real, genuine));
        if (real?.status !== "success") failures++;
        for (const { eventName } of real?.status === "success"
          ? await chain.eventsOf(real.transactionHash)
          : [])
          seen.add(eventName);
      }
    }
    expect([...seen]).to.include.members(["Swap", "Mint", "Burn", "Collect", "Flash"]);
    expect(failures, "actions that both refused").to.be.lessThan(60);

    const real = await chain.slot0(genuine);
    const own = await chain.slipstream.state(twin);
    expect([own.sqrtPriceX96, own.tick, own.liquidity]).to.deep.equal([
      real.sqrtPriceX96,
      real.tick,
      await chain.liquidity(genuine),
    ]);
    for (const { address: token } of [tokens.DAI, tokens.REEF])
      expect(await chain.balanceOf(token, twin)).to.equal(await chain.balanceOf(token, genuine));
  });

  it("charges the fee that the factory names at that moment, without an event", async () => {
    const pool = chain.slipstream.pools.find(({ gauge, token0 }) => !gauge && token0) as SlipstreamPool;
    const growth = () =>
      chain.client.readContract({
        address: pool.address,
        abi: slipstreamPoolAbi,
        functionName: "feeGrowthGlobal0X128",
      });
    for (const [set, fee] of [
      [2_345, 2_345],
      [0, pool.tickSpacing === 1 ? 100 : 10_000],
    ] as const) {
      const changed = await chain.slipstream.setSwapFee(pool.address, set);
      await chain.mine();
      expect(await chain.slipstream.eventsOf(changed)).to.deep.equal([]);
      const before = await chain.slipstream.state(pool.address);
      expect(before.fee).to.equal(fee);
      const amount = 10n ** BigInt(pool.token0.decimals) * 100n;
      const grown = await growth();
      await chain.swap(pool.address, { zeroForOne: true, amount });
      await chain.mine();
      const paid = (((await growth()) - grown) * before.liquidity) / 2n ** 128n;
      const expected = (Number(amount) * fee) / 1e6;
      expect(Number(paid)).to.be.closeTo(expected, expected / 1e9 + 2);
    }
  });

  it("gives the gauge its liquidity's fees and a tenth of the others', and hands them out by CollectFees", async () => {
    const pool = chain.slipstream.pools[0] as SlipstreamPool;
    const gauge = pool.gauge as Hex;
    const before = await chain.slipstream.state(pool.address);
    const widest = basePositions(pool).at(-1) as ReturnType<typeof basePositions>[number];
    expect(before.stakedLiquidity).to.equal(widest.liquidity / 2n);

    const amount = 10n ** BigInt(pool.token0.decimals);
    const hash = await chain.swap(pool.address, { zeroForOne: true, amount });
    await chain.mine();
    const swap = argsOf(await chain.slipstream.eventsOf(hash), "Swap");
    const fee = swap.amount0 - amount0Between(swap.sqrtPriceX96, before.sqrtPriceX96, before.liquidity);
    expect(Number(fee)).to.be.closeTo((Number(amount) * pool.fee) / 1e6, 2);
    const ofStaked = ceilDiv(fee * before.stakedLiquidity, before.liquidity);
    const expected = ofStaked + ceilDiv((fee - ofStaked) * 100_000n, 1_000_000n);
    const after = await chain.slipstream.state(pool.address);
    expect(after.gaugeFees[0] - before.gaugeFees[0]).to.equal(expected);

    const collected = await chain.slipstream.collectFees(gauge);
    await chain.mine();
    const events = await chain.slipstream.eventsOf(collected);
    expect(argsOf(events, "CollectFees").amount0, "one unit stays").to.equal(after.gaugeFees[0] - 1n);
    expect(argsOf(events, "ClaimFees").claimed0).to.equal(after.gaugeFees[0] - 1n);
    expect(await chain.balanceOf(pool.token0.address, gauge)).to.equal(after.gaugeFees[0] - 1n);
  });

  it("stakes and unstakes liquidity; it counts while the price is in its range", async () => {
    const pool = chain.slipstream.pools[0] as SlipstreamPool;
    const gauge = pool.gauge as Hex;
    const [narrow] = basePositions(pool) as [ReturnType<typeof basePositions>[number]];
    const { stakedLiquidity, liquidity, tick } = await chain.slipstream.state(pool.address);
    const staked = await chain.slipstream.stake(gauge, { ...narrow, liquidity: narrow.liquidity / 3n });
    await chain.mine();
    const { tokenId, liquidityToStake } = argsOf(await chain.slipstream.eventsOf(staked), "Deposit");
    expect(liquidityToStake).to.equal(narrow.liquidity / 3n);
    const during = await chain.slipstream.state(pool.address);
    expect(during.stakedLiquidity).to.equal(stakedLiquidity + narrow.liquidity / 3n);
    expect(during.liquidity, "staking moves no liquidity").to.equal(liquidity);

    // Out of the narrow range and back.
    const amount = 10n ** 30n;
    const beyond = BigInt(Math.floor(1.0001 ** ((narrow.lower - 50) / 2) * 2 ** 96));
    const start = (await chain.slipstream.state(pool.address)).sqrtPriceX96;
    await chain.act([
      { kind: "swap", pool: pool.address, zeroForOne: true, amount, sqrtPriceLimitX96: beyond },
    ]);
    await chain.mine();
    expect((await chain.slipstream.state(pool.address)).stakedLiquidity).to.equal(stakedLiquidity);
    await chain.act([
      { kind: "swap", pool: pool.address, zeroForOne: false, amount, sqrtPriceLimitX96: start },
    ]);
    await chain.mine();
    const back = await chain.slipstream.state(pool.address);
    expect([back.stakedLiquidity, back.tick]).to.deep.equal([during.stakedLiquidity, tick]);

    const unstaked = await chain.slipstream.unstake(gauge, tokenId);
    await chain.mine();
    expect(argsOf(await chain.slipstream.eventsOf(unstaked), "Withdraw").tokenId).to.equal(tokenId);
    expect((await chain.slipstream.state(pool.address)).stakedLiquidity).to.equal(stakedLiquidity);
  });

  it("names in PancakeSwap's Swap the protocol's part of the fee, which the pool keeps", async () => {
    const { pancake } = chain.deployment;
    const pool = pancake?.pools[0] as DeployedPool;
    const read = { address: pool.address, abi: pancakePoolAbi } as const;
    const [kept0, kept1] = await chain.client.readContract({ ...read, functionName: "protocolFees" });
    const amount = 10n ** BigInt(pool.token1.decimals);
    const hash = await chain.swap(pool.address, { zeroForOne: false, amount });
    await chain.mine();
    const { logs } = await chain.client.getTransactionReceipt({ hash });
    const [swap, ...others] = parsePancakeEvents(logs);
    if (swap?.eventName !== "Swap") throw new Error("not a swap");
    expect(others).to.deep.equal([]);
    const { amount1, sqrtPriceX96, tick, protocolFeesToken0, protocolFeesToken1 } = swap.args;
    expect([amount1, protocolFeesToken0]).to.deep.equal([amount, 0n]);
    // 100 hundredths of a bip, a third of it the protocol's.
    expect(Number(protocolFeesToken1)).to.be.closeTo((Number(amount) * 33) / 1e6, Number(amount) / 1e8);
    const now = await chain.client.readContract({ ...read, functionName: "protocolFees" });
    expect(now).to.deep.equal([kept0, kept1 + protocolFeesToken1]);
    const slot0 = await chain.client.readContract({ ...read, functionName: "slot0" });
    expect([slot0[0], slot0[1]]).to.deep.equal([sqrtPriceX96, tick]);
  });

  it("has Uniswap's events on the second factory's pools", async () => {
    const pool = chain.deployment.sushi?.pools[0] as DeployedPool;
    const hash = await chain.swap(pool.address, { zeroForOne: true, amount: 1_000_000n });
    await chain.mine();
    const [swap] = await chain.eventsOf(hash);
    expect(swap?.eventName).to.equal("Swap");
    expect(swap?.address.toLowerCase()).to.equal(pool.address);
    expect(chain.deployment.sushi?.factory).to.not.equal(chain.deployment.factory);
  });
});

/** token0 between two prices, rounded up twice, as a pool takes it. */
function amount0Between(low: bigint, high: bigint, liquidity: bigint): bigint {
  return ceilDiv(ceilDiv(liquidity * Q96 * (high - low), high), low);
}

function ceilDiv(a: bigint, b: bigint): bigint {
  return (a + b - 1n) / b;
}

/** Swaps of all sizes and both kinds with and without limits, and positions opened, reduced, settled and closed. */
function randomStep(pool: Hex, open: (Action & { kind: "mint" })[], random: Random): Action[] {
  const kind = random.next();
  if (open.length === 0 || kind < 0.2) {
    const lower = 200 * (random.below(200) - 100);
    const upper = lower + 200 * (1 + random.below(100));
    const liquidity = BigInt(Math.floor(10 ** (18 + 4 * random.next())));
    const mint = { kind: "mint", pool, lower, upper, liquidity } as const;
    open.push(mint);
    return [mint];
  }
  if (kind < 0.3) {
    const at = random.below(open.length);
    const { lower, upper, liquidity } = open[at] as Action & { kind: "mint" };
    const [part] = [[0n, 1n, 2n][random.below(3)] as bigint];
    if (part === 2n) open.splice(at, 1);
    return [
      // Half of it twice would leave a unit: the rest of a removed position may stay for ever.
      {
        kind: "burn",
        pool,
        lower,
        upper,
        liquidity: part === 1n ? liquidity / 1_000n : part * (liquidity / 4n),
      },
      { kind: "collect", pool, lower, upper },
    ];
  }
  if (kind < 0.35)
    return [
      { kind: "flash", pool, amount0: BigInt(random.below(2 ** 40)), amount1: BigInt(random.below(2 ** 40)) },
    ];
  const zeroForOne = random.next() < 0.5;
  const size = BigInt(Math.floor(10 ** (24 * random.next())));
  const amount = random.next() < 0.3 ? -size : size;
  if (random.next() < 0.7) return [{ kind: "swap", pool, zeroForOne, amount }];
  const factor = zeroForOne ? 1 - 0.5 * random.next() : 1 + random.next();
  return [
    { kind: "swap", pool, zeroForOne, amount, sqrtPriceLimitX96: BigInt(Math.floor(1.7 * factor * 2 ** 96)) },
  ];
}
