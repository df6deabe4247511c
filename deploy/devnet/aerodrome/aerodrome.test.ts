import { expect } from "chai";
import { after, before, it } from "mocha";
import type { Hex } from "viem";
import { describeWithChain } from "../../../services/shared/testkit/describe.ts";
import { aerodromePoolAbi } from "../contracts/aerodrome/abi.ts";
import { createRandom } from "../random.ts";
import { createTestChain, type TestChain } from "../testkit.ts";
import { type CurveState, feeOf, stableAmountOut, volatileAmountOut } from "./curve.testkit.ts";
import type { AerodromePool } from "./deploy.ts";
import type { AerodromeEvent } from "./reader.ts";

const WEEK_S = 604_800;
/** Wednesday, 2025-10-08, 08:53:20 UTC: the week ends at the next midnight. */
const GENESIS_S = 1_759_913_600;

describeWithChain("devnet: Aerodrome", () => {
  let chain: TestChain;
  before(async () => {
    chain = await createTestChain({ timestamp: GENESIS_S, poolCount: 1, families: ["aerodrome-v2"] });
  });
  after(() => chain.stop());

  const find = (base: string, quote: string) =>
    chain.aerodrome.pools.find(({ spec }) => spec.base === base && spec.quote === quote) as AerodromePool;
  const provider = (i: number) => chain.aerodrome.providers[i] as Hex;
  const names = (events: readonly AerodromeEvent[]) => events.map(({ eventName }) => eventName);
  const argsOf = <N extends AerodromeEvent["eventName"]>(events: readonly AerodromeEvent[], name: N) => {
    const found = events.find((event) => event.eventName === name);
    if (!found) throw new Error(`no ${name} among ${names(events)}`);
    return found.args as Extract<AerodromeEvent, { eventName: N }>["args"];
  };
  async function curve({ address, stable, token0, token1 }: AerodromePool): Promise<CurveState> {
    const [reserves, fee] = await Promise.all([
      chain.aerodrome.reserves(address),
      chain.aerodrome.fee({ address, stable }),
    ]);
    return { stable, reserves, fee, decimals: [token0.decimals, token1.decimals] };
  }

  it("has its pools and gauges at the planned addresses, volatile and stable, with liquidity at the market's price", async () => {
    const { aerodrome } = chain;
    const events = await aerodrome.events();
    const created = events.flatMap((event) => (event.eventName === "PoolCreated" ? [event.args] : []));
    expect(created.map(({ pool }) => pool.toLowerCase())).to.deep.equal(
      aerodrome.pools.map(({ address }) => address),
    );
    expect(created.map(({ count }) => count)).to.deep.equal(created.map((_, i) => BigInt(i + 1)));
    expect(created.map(({ stable }) => stable)).to.include.members([true, false]);
    const gauges = events.flatMap((event) => (event.eventName === "GaugeCreated" ? [event.args] : []));
    expect(gauges.map(({ pool, gauge }) => [pool.toLowerCase(), gauge.toLowerCase()])).to.deep.equal(
      aerodrome.pools.flatMap(({ address, gauge }) => (gauge ? [[address, gauge]] : [])),
    );
    for (const { address, token0, token1, spec, gauge } of aerodrome.pools) {
      const [reserve0, reserve1] = await aerodrome.reserves(address);
      const usd = (raw: bigint, token: typeof token0) => (Number(raw) / 10 ** token.decimals) * token.usd;
      for (const side of [usd(reserve0, token0), usd(reserve1, token1)])
        expect(side, `${spec.base}/${spec.quote}`).to.be.closeTo(spec.depthUsd, spec.depthUsd / 1_000);
      expect(await aerodrome.gaugeOf(address)).to.equal(gauge);
    }
  });

  it("describes a pool by metadata() and its LP token's symbol", async () => {
    const { address, token0, token1 } = find("DAI", "USDC");
    const read = { address, abi: aerodromePoolAbi } as const;
    const metadata = await chain.client.readContract({ ...read, functionName: "metadata" });
    const reserves = await chain.aerodrome.reserves(address);
    expect(metadata.map((value) => (typeof value === "string" ? value.toLowerCase() : value))).to.deep.equal([
      10n ** BigInt(token0.decimals),
      10n ** BigInt(token1.decimals),
      ...reserves,
      true,
      token0.address,
      token1.address,
    ]);
    const symbol = await chain.client.readContract({ ...read, functionName: "symbol" });
    expect(symbol).to.equal(`sAMMV2-${token0.symbol}/${token1.symbol}`);
  });

  it("gives on a volatile pool what xy = k gives after the fee", async () => {
    for (const pool of [find("WETH", "USDC"), find("DEGEN", "WETH")]) {
      const state = await curve(pool);
      for (const zeroForOne of [true, false]) {
        const { address: tokenIn, decimals } = zeroForOne ? pool.token0 : pool.token1;
        for (const amountIn of [1n, 9_999n, 123_456_789n, 10n ** BigInt(decimals) * 777n]) {
          expect(await chain.aerodrome.amountOut(pool.address, { amountIn, tokenIn })).to.equal(
            volatileAmountOut(state, zeroForOne, amountIn),
          );
        }
      }
    }
  });

  it("gives on a stable pool what x3y + y3x = k gives after the fee, to the last unit of 1e-18, also when out of balance", async () => {
    const pool = find("DAI", "USDC");
    const random = createRandom(11);
    for (let round = 0; round < 12; round++) {
      const state = await curve(pool);
      for (const zeroForOne of [true, false]) {
        const token = zeroForOne ? pool.token0 : pool.token1;
        const amountIn = BigInt(Math.ceil(10 ** (token.decimals + 6 * random.next())));
        const out = await chain.aerodrome.amountOut(pool.address, { amountIn, tokenIn: token.address });
        const { most, least } = stableAmountOut(state, zeroForOne, amountIn);
        expect(out <= most && out >= least, `${amountIn}: ${least} <= ${out} <= ${most}`).to.equal(true);
      }
      // The same direction again and again leads far from balance.
      const amountIn = 10n ** BigInt(pool.token0.decimals) * 300_000n;
      const hash = await chain.aerodrome.swap(pool.address, { zeroForOne: true, amountIn });
      await chain.mine();
      const { amount1Out } = argsOf(await chain.aerodrome.eventsOf(hash), "Swap");
      const { most, least } = stableAmountOut(state, true, amountIn);
      expect(amount1Out <= most && amount1Out >= least).to.equal(true);
    }
    const [reserve0, reserve1] = (await curve(pool)).reserves;
    const scaled = (raw: bigint, { decimals }: { decimals: number }) => Number(raw) / 10 ** decimals;
    expect(scaled(reserve0, pool.token0) / scaled(reserve1, pool.token1)).to.be.greaterThan(3);
  });

  it("emits Fees, Sync, Swap, keeps the fee outside its reserves, and owes it to LP tokens", async () => {
    const pool = find("WETH", "USDC");
    const { reserves, fee } = await curve(pool);
    const supply = await chain.aerodrome.totalSupply(pool.address);
    const read = { address: pool.address, abi: aerodromePoolAbi } as const;
    const poolFees = await chain.client.readContract({ ...read, functionName: "poolFees" });
    const index = await chain.client.readContract({ ...read, functionName: "index0" });
    const amountIn = 5n * 10n ** BigInt(pool.token0.decimals) + 7n;
    const hash = await chain.aerodrome.swap(pool.address, { zeroForOne: true, amountIn, from: provider(3) });
    await chain.mine();

    const events = await chain.aerodrome.eventsOf(hash);
    expect(names(events)).to.deep.equal(["Fees", "Sync", "Swap"]);
    const taken = feeOf(amountIn, fee);
    expect(fee).to.equal(30);
    expect(argsOf(events, "Fees")).to.include({ amount0: taken, amount1: 0n });
    const { amount0In, amount1In, amount0Out, amount1Out } = argsOf(events, "Swap");
    expect([amount0In, amount1In, amount0Out]).to.deep.equal([amountIn, 0n, 0n]);
    const now = [reserves[0] + amountIn - taken, reserves[1] - amount1Out];
    expect(argsOf(events, "Sync")).to.deep.equal({ reserve0: now[0], reserve1: now[1] });
    expect(await chain.aerodrome.reserves(pool.address)).to.deep.equal(now);
    expect(await chain.balanceOf(pool.token0.address, pool.address)).to.equal(now[0]);
    expect(await chain.balanceOf(pool.token0.address, poolFees)).to.equal(taken);
    const grown = (await chain.client.readContract({ ...read, functionName: "index0" })) - index;
    expect(grown).to.equal((taken * 10n ** 18n) / supply);

    const held = await chain.aerodrome.lpBalance(pool.address, provider(2));
    const claim = await chain.aerodrome.claimFees(pool.address, { from: provider(2) });
    await chain.mine();
    const [claimed] = await chain.aerodrome.eventsOf(claim);
    if (claimed?.eventName !== "Claim") throw new Error("no Claim");
    expect(claimed.args.amount0).to.equal((held * grown) / 10n ** 18n);
    expect(claimed.args.amount1).to.equal(0n);
    expect(claimed.args.recipient.toLowerCase()).to.equal(provider(2));
  });

  it("takes fees on both sides when both tokens come in, each with an event of its own", async () => {
    const pool = find("AERO", "USDC");
    const amountsIn: [bigint, bigint] = [10_000_000_000n, 20_000_000_000n];
    const hash = await chain.aerodrome.swapBoth(pool.address, { amountsIn, amountsOut: [1n, 0n] });
    await chain.mine();
    const events = await chain.aerodrome.eventsOf(hash);
    expect(names(events)).to.deep.equal(["Fees", "Fees", "Sync", "Swap"]);
    const fees = events.flatMap((event) => (event.eventName === "Fees" ? [event.args] : []));
    expect(fees.map(({ amount0, amount1 }) => [amount0, amount1])).to.deep.equal([
      [feeOf(amountsIn[0], 30), 0n],
      [0n, feeOf(amountsIn[1], 30)],
    ]);
    expect(argsOf(events, "Swap")).to.include({
      amount0In: amountsIn[0],
      amount1In: amountsIn[1],
      amount0Out: 1n,
    });
  });

  it("mints and burns LP tokens in proportion, the first thousand to address 1", async () => {
    const { aerodrome } = chain;
    const { WETH, DAI } = chain.deployment.tokens;
    const { hash, address } = await aerodrome.createPool({
      tokenA: WETH.address,
      tokenB: DAI.address,
      stable: false,
    });
    const amounts: [bigint, bigint] = [4n * 10n ** 18n, 9n * 10n ** 18n];
    const first = await aerodrome.addLiquidity(address, amounts, { from: provider(0) });
    await chain.mine();
    const [created] = await aerodrome.eventsOf(hash);
    expect(created?.eventName === "PoolCreated" && created.args.pool.toLowerCase()).to.equal(address);
    const events = await aerodrome.eventsOf(first);
    expect(names(events)).to.deep.equal(["Transfer", "Transfer", "Sync", "Mint"]);
    expect(argsOf(events, "Mint")).to.include({ amount0: amounts[0], amount1: amounts[1] });
    expect(await aerodrome.lpBalance(address, "0x0000000000000000000000000000000000000001")).to.equal(1_000n);
    expect(await aerodrome.lpBalance(address, provider(0))).to.equal(6n * 10n ** 18n - 1_000n);

    const second = await aerodrome.addLiquidity(address, [2n * 10n ** 18n, 9n * 10n ** 18n], {
      from: provider(1),
    });
    await chain.mine();
    await aerodrome.eventsOf(second);
    expect(await aerodrome.lpBalance(address, provider(1)), "the scarcer side counts").to.equal(
      3n * 10n ** 18n,
    );

    // Not a pool of the deployment: no account has approved the desk yet.
    const removed = await aerodrome.removeLiquidity(address, 10n ** 18n, { from: provider(1) });
    await chain.mine();
    const burnt = await aerodrome.eventsOf(removed);
    expect(names(burnt)).to.deep.equal(["Transfer", "Transfer", "Sync", "Burn"]);
    const { amount0, amount1, to } = argsOf(burnt, "Burn");
    expect([amount0, amount1]).to.deep.equal([(6n * 10n ** 18n) / 9n, 2n * 10n ** 18n]);
    expect(to.toLowerCase()).to.equal(provider(1));
    expect(await aerodrome.totalSupply(address)).to.equal(8n * 10n ** 18n);
  });

  it("charges a custom fee, none, and the factory's again", async () => {
    const { aerodrome } = chain;
    const pool = find("WETH", "USDC");
    for (const [set, fee] of [
      [100, 100],
      [420, 0],
      [0, 30],
    ] as const) {
      const hash = await aerodrome.setCustomFee(pool.address, set);
      await chain.mine();
      expect(argsOf(await aerodrome.eventsOf(hash), "SetCustomFee").fee).to.equal(BigInt(set));
      expect(await aerodrome.fee(pool)).to.equal(fee);
      const swap = await aerodrome.swap(pool.address, { zeroForOne: false, amountIn: 1_000_000_000n });
      await chain.mine();
      const events = await aerodrome.eventsOf(swap);
      if (fee === 0) expect(names(events)).to.deep.equal(["Sync", "Swap"]);
      else expect(argsOf(events, "Fees").amount1).to.equal(feeOf(1_000_000_000n, fee));
    }
  });

  it("pays a gauge's rewards by the second until Thursday midnight, adding what is left of them", async () => {
    const { aerodrome } = chain;
    const { gauge, address } = find("AERO", "USDC");
    if (!gauge) throw new Error("no gauge");
    const before = await aerodrome.gauge(gauge);
    const weekEnd = Math.ceil(GENESIS_S / WEEK_S) * WEEK_S;
    expect(new Date(weekEnd * 1_000).toUTCString()).to.match(/^Thu, .* 00:00:00 GMT$/);
    expect(before.periodFinish).to.equal(weekEnd);

    const amount = 10_000n * 10n ** 18n;
    const hash = await aerodrome.notifyReward(gauge, amount);
    const head = await chain.mine();
    const { timestamp } = await chain.header(head);
    const events = await aerodrome.eventsOf(hash);
    expect(argsOf(events, "NotifyReward").amount).to.equal(amount);
    const left = BigInt(weekEnd - timestamp);
    const after = await aerodrome.gauge(gauge);
    expect(after.rewardRate).to.equal((amount + left * before.rewardRate) / left);
    expect(after.periodFinish).to.equal(weekEnd);

    // The gauge holds LP tokens too, so it gets their fees in exchange.
    const claimed = argsOf(events, "ClaimFees");
    expect(claimed.claimed0 + claimed.claimed1 > 0n).to.equal(true);
    expect(names(events).indexOf("ClaimFees")).to.be.lessThan(names(events).indexOf("NotifyReward"));

    const staker = provider(1);
    const share = await aerodrome.staked(gauge, staker);
    const earned = await aerodrome.earned(gauge, staker, head);
    const later = await chain.mine(1, { intervalS: 3_600 });
    const expected = (share * 3_600n * after.rewardRate) / after.totalSupply;
    const grown = (await aerodrome.earned(gauge, staker, later)) - earned;
    expect(Number(grown)).to.be.closeTo(Number(expected), Number(expected) / 1e12);

    // After the week's end nothing is left: the next rate is the new amount's alone, over the new week.
    await chain.mine(1, { intervalS: 86_400 });
    const again = await aerodrome.notifyReward(gauge, amount);
    const next = await chain.header(await chain.mine(1, { intervalS: 2 }));
    await aerodrome.eventsOf(again);
    const fresh = await aerodrome.gauge(gauge);
    expect(fresh.periodFinish).to.equal(weekEnd + WEEK_S);
    expect(fresh.rewardRate).to.equal(amount / BigInt(weekEnd + WEEK_S - next.timestamp));
    expect(await aerodrome.stakingToken(gauge)).to.match(new RegExp(address, "i"));
  });

  it("moves LP tokens between wallets and in and out of a gauge, also on another's behalf", async () => {
    const { aerodrome } = chain;
    const { gauge, address } = find("WETH", "USDC");
    if (!gauge) throw new Error("no gauge");
    const [giver, taker] = [provider(2), chain.accounts[9] as Hex];
    const amount = (await aerodrome.lpBalance(address, giver)) / 3n;
    const { totalSupply } = await aerodrome.gauge(gauge);
    const hashes = [
      await aerodrome.transferLp(address, { to: taker, amount, from: giver }),
      await aerodrome.stake(gauge, { amount: amount / 2n, from: taker }),
      await aerodrome.stake(gauge, { amount: 7n, recipient: provider(5), from: taker }),
      await aerodrome.unstake(gauge, amount / 4n, { from: taker }),
    ] as const;
    await chain.mine();
    const [moved, staked, forOther, unstaked] = await Promise.all(
      hashes.map((hash) => aerodrome.eventsOf(hash)),
    );
    expect(names(moved ?? [])).to.deep.equal(["Transfer"]);
    expect(names(staked ?? [])).to.deep.equal(["Transfer", "Deposit"]);
    const deposit = argsOf(forOther ?? [], "Deposit");
    expect([deposit.from, deposit.to].map((text) => text.toLowerCase())).to.deep.equal([taker, provider(5)]);
    expect(names(unstaked ?? [])).to.deep.equal(["Transfer", "Withdraw"]);
    const inGauge = amount / 2n - amount / 4n;
    expect(await aerodrome.staked(gauge, taker)).to.equal(inGauge);
    expect(await aerodrome.staked(gauge, provider(5))).to.equal(7n);
    expect(await aerodrome.lpBalance(address, taker)).to.equal(amount - inGauge - 7n);
    expect((await aerodrome.gauge(gauge)).totalSupply).to.equal(totalSupply + inGauge + 7n);

    await chain.mine(1, { intervalS: 600 });
    const earned = await aerodrome.claimRewards(gauge, { from: provider(0) });
    await chain.mine(1, { intervalS: 2 });
    const reward = argsOf(await aerodrome.eventsOf(earned), "ClaimRewards");
    expect(reward.amount > 0n).to.equal(true);
    expect(await chain.balanceOf(chain.deployment.tokens.AERO.address, provider(0))).to.equal(reward.amount);
  });

  it("kills and revives gauges; a dead one takes no stakes, gives them back and can be made for a new pool", async () => {
    const { aerodrome } = chain;
    const { gauge } = find("DAI", "USDC");
    if (!gauge) throw new Error("no gauge");
    const killed = await aerodrome.setGaugeAlive(gauge, false);
    await chain.mine();
    expect(names(await aerodrome.eventsOf(killed))).to.deep.equal(["GaugeKilled"]);
    expect((await aerodrome.gauge(gauge)).alive).to.equal(false);
    const refused = await aerodrome.stake(gauge, { amount: 1n });
    const returned = await aerodrome.unstake(gauge, 1n);
    await chain.mine();
    expect(await aerodrome.eventsOf(refused).catch((error: Error) => error.message)).to.match(/failed/);
    expect(names(await aerodrome.eventsOf(returned))).to.deep.equal(["Transfer", "Withdraw"]);
    const revived = await aerodrome.setGaugeAlive(gauge, true);
    await chain.mine();
    expect(names(await aerodrome.eventsOf(revived))).to.deep.equal(["GaugeRevived"]);

    const bare = find("DEGEN", "WETH").address;
    expect(await aerodrome.gaugeOf(bare)).to.equal(undefined);
    const made = await aerodrome.createGauge(bare);
    await chain.mine();
    const { gauge: address } = argsOf(await aerodrome.eventsOf(made), "GaugeCreated");
    expect(await aerodrome.gaugeOf(bare)).to.equal(address.toLowerCase());
  });

  it("makes random transactions of every kind that do not fail, in a reorg as well", async () => {
    const { aerodrome } = chain;
    const first = (await chain.headNumber()) + 1;
    for (let block = 0; block < 8; block++) {
      await chain.sendTransactions(aerodrome.randomTransactions(block, 25));
      await chain.mine();
    }
    const replaced = aerodrome
      .randomTransactions(99, 12)
      .map((transaction, i) => [transaction, i % 3] as const);
    const head = await chain.reorg(3, { transactions: replaced });
    const receipts = await chain.anvil.rpc.batch<{ status: string }[]>(
      Array.from({ length: head - first + 1 }, (_, i) => ({
        method: "eth_getBlockReceipts",
        params: [`0x${(first + i).toString(16)}`],
      })),
    );
    expect(receipts.slice(-3).map(({ length }) => length)).to.deep.equal([4, 4, 4]);
    expect(receipts.flat().filter(({ status }) => status !== "0x1")).to.deep.equal([]);
    const seen = new Set(names(await aerodrome.events({ fromBlock: first })));
    for (const name of [
      "Swap",
      "Mint",
      "Burn",
      "Claim",
      "Deposit",
      "Withdraw",
      "NotifyReward",
      "ClaimRewards",
    ] as const)
      expect(seen.has(name), name).to.equal(true);
  });
});
