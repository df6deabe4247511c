import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { type Hex, type Log, parseEventLogs } from "viem";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { aavePoolAbi } from "./contracts/aave/abi.ts";
import { HISTORY_S, historyTimes, tradeHistory } from "./history.ts";
import { FAMILIES } from "./plan.ts";
import { createTestChain, type TestChain } from "./testkit.ts";
import { pairPrice } from "./ticks.ts";
import { wanderTicks } from "./traders/wander.ts";
import { createTraders, runTraders } from "./traders.ts";
import { parseSlipstreamEvents } from "./v3/testkit.ts";

const GENESIS_S = 1_760_000_000;

describeThorough("devnet: traders", () => {
  let chain: TestChain;
  before(async () => {
    chain = await createTestChain({ timestamp: GENESIS_S, accounts: 32 });
  });
  after(() => chain.stop());

  it("trade both ways from many accounts, move liquidity, never fail, and keep the pools near their prices", async () => {
    const traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 7 });
    const first = (await chain.headNumber()) + 1;
    for (let block = 0; block < 150; block++) {
      await traders.tradeBlock({ timestamp: GENESIS_S + 100 + block * 60, swaps: 4 });
    }
    const head = await chain.headNumber();
    expect(head).to.equal(first + 149);
    expect((await chain.header(head)).timestamp).to.equal(GENESIS_S + 100 + 149 * 60);

    const events = await chain.events({ fromBlock: first });
    const swaps = events.flatMap((event) => (event.eventName === "Swap" ? [event] : []));
    expect(swaps.length).to.be.greaterThan(400);
    expect(swaps.filter(({ args }) => args.amount0 > 0n).length / swaps.length).to.be.within(0.2, 0.8);
    const names = new Set(events.map(({ eventName }) => eventName));
    expect([...names]).to.include.members(["Swap", "Mint", "Burn", "Collect"]);

    const senders = new Set<string>();
    const failed: string[] = [];
    for (let block = first; block <= head; block++) {
      const blockNumber = BigInt(block);
      const { transactions } = await chain.client.getBlock({ blockNumber, includeTransactions: true });
      for (const { from } of transactions) senders.add(from);
      expect(new Set(transactions.map(({ from }) => from)).size).to.equal(transactions.length);
    }
    const receipts = await chain.anvil.rpc.batch<{ status: string; transactionHash: string }[]>(
      Array.from({ length: head - first + 1 }, (_, i) => ({
        method: "eth_getBlockReceipts",
        params: [`0x${(first + i).toString(16)}`],
      })),
    );
    for (const receipt of receipts.flat()) if (receipt.status !== "0x1") failed.push(receipt.transactionHash);
    expect(failed).to.deep.equal([]);
    expect(senders.size).to.be.greaterThan(20);

    for (const { address, startTick, spec } of chain.pools) {
      const { tick } = await chain.slot0(address);
      expect(Math.abs(tick - startTick), `${spec.base}/${spec.quote}`).to.be.lessThan(1_000);
    }
  });

  it("fill the past up to a given time, with jumped timestamps", async () => {
    const traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 3 });
    const head = await chain.headNumber();
    const { timestamp } = await chain.header(head);
    const blocks = await tradeHistory(traders, { fromS: timestamp, toS: timestamp + 1_200 });
    expect(blocks).to.be.within(15, 20);
    expect(await chain.headNumber()).to.equal(head + blocks);
    const last = await chain.header(head + blocks);
    expect(last.timestamp).to.be.within(timestamp + 1_080, timestamp + 1_200);
  });

  it("never mine a block that is not younger than its parent", async () => {
    const traders = createTraders(chain.anvil.rpc, chain.deployment);
    const parent = await chain.header(await chain.headNumber());
    const block = await traders.tradeBlock({ timestamp: GENESIS_S });
    expect(block.timestamp).to.equal(parent.timestamp + 1);
    expect((await chain.header(block.number)).timestamp).to.equal(parent.timestamp + 1);
  });

  it("run until they are stopped", async () => {
    const traders = createTraders(chain.anvil.rpc, chain.deployment);
    const stop = new AbortController();
    const seen: number[] = [];
    const onBlock = ({ number }: { number: number }) => {
      seen.push(number);
      if (seen.length === 3) stop.abort();
    };
    await runTraders(traders, { blockTimeMs: 20, signal: stop.signal, onBlock });
    expect(seen).to.have.length(3);
    expect(await chain.headNumber()).to.equal(seen.at(-1));
  });

  it("let prices wander within bounds, dollars not at all", () => {
    for (let hour = 0; hour < 500; hour++) {
      expect(Math.abs(wanderTicks("WETH", GENESIS_S + hour * 3_600))).to.be.at.most(234);
      expect(wanderTicks("USDC", GENESIS_S + hour * 3_600)).to.equal(0);
    }
  });
});

describeThorough("devnet: traders on every family", () => {
  let chain: TestChain;
  before(async () => {
    chain = await createTestChain({ timestamp: GENESIS_S, accounts: 32, families: FAMILIES });
  });
  after(() => chain.stop());

  it("do all that can be done on pools and gauges, never fail, and keep v2 pools near their prices", async () => {
    const traders = createTraders(chain.anvil.rpc, chain.deployment, { seed: 5 });
    const first = (await chain.headNumber()) + 1;
    // Past a Thursday, so that gauges run dry and get a new week's rewards.
    const hashes: Hex[] = [];
    for (let block = 0; block < 250; block++) {
      const { transactions } = await traders.tradeBlock({
        timestamp: GENESIS_S + 100 + block * 3_600,
        swaps: 3,
      });
      hashes.push(...transactions);
    }
    const receipts = await chain.anvil.rpc.batch<{ status: string }>(
      hashes.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] })),
    );
    expect(receipts.filter(({ status }) => status !== "0x1")).to.deep.equal([]);

    const { aerodrome, deployment } = chain;
    const v2 = await aerodrome.events({ fromBlock: first });
    expect(new Set(v2.map(({ eventName }) => eventName))).to.include.all.keys(
      ...["Swap", "Sync", "Fees", "Mint", "Burn", "Transfer", "Claim"],
      ...["Deposit", "Withdraw", "NotifyReward", "ClaimRewards", "ClaimFees", "DistributeReward"],
    );
    for (const pool of aerodrome.pools) {
      const { address, token0, token1, spec, gauge } = pool;
      const swaps = v2.filter(
        (event) => event.eventName === "Swap" && event.address.toLowerCase() === address,
      );
      expect(swaps.length, `${spec.base}/${spec.quote}`).to.be.greaterThan(5);
      const [reserve0, reserve1] = await aerodrome.reserves(address);
      const off = Math.log(Number(reserve1) / Number(reserve0) / pairPrice(token0, token1).raw);
      expect(Math.abs(off), `${spec.base}/${spec.quote}`).to.be.lessThan(pool.stable ? 1 : 0.1);
      if (!gauge) continue;
      const { periodFinish } = await aerodrome.gauge(gauge);
      expect(periodFinish).to.be.greaterThan(GENESIS_S + 604_800);
    }

    const logs = await chain.client.getLogs({ fromBlock: BigInt(first) });
    expectLending(chain, logs);
    for (const pools of [deployment.slipstream?.pools, deployment.pancake?.pools, deployment.sushi?.pools]) {
      for (const { address, spec } of pools ?? []) {
        const traded = logs.filter((log) => log.address === address).length;
        expect(traded, `${spec.base}/${spec.quote} ${spec.fee}`).to.be.greaterThan(3);
      }
    }
    const slipstream = parseSlipstreamEvents(logs).map(({ eventName }) => eventName);
    expect(slipstream).to.include("CollectFees");
    const fees = await Promise.all(
      chain.slipstream.pools.map(({ address }) => chain.slipstream.state(address)),
    );
    expect(fees.map(({ fee }) => fee)).to.not.deep.equal(chain.slipstream.pools.map(({ fee }) => fee));
  });
});

/** Everybody does what he can do, and the utilisation of what is borrowed goes up and down. */
function expectLending({ aave }: TestChain, logs: Log[]): void {
  const events = parseEventLogs({ abi: aavePoolAbi, logs, strict: true });
  for (const { spec, token } of aave.deployment.reserves) {
    const count = (name: (typeof events)[number]["eventName"]) =>
      events.filter(
        ({ eventName, args }) =>
          eventName === name && "reserve" in args && args.reserve.toLowerCase() === token.address,
      ).length;
    expect(count("Supply"), `supplies of ${spec.token}`).to.be.greaterThan(0);
    expect(count("Withdraw"), `withdrawals of ${spec.token}`).to.be.greaterThan(0);
    if (!spec.borrowable) continue;
    expect(count("Borrow"), `borrows of ${spec.token}`).to.be.greaterThan(0);
    expect(count("Repay"), `repayments of ${spec.token}`).to.be.greaterThan(0);
  }
}

describe("devnet: history", () => {
  it("covers a week, thickens towards now, and never leaves its range", () => {
    const toS = GENESIS_S;
    const times = historyTimes(toS - HISTORY_S, toS);
    expect(times).to.deep.equal([...times].sort((a, b) => a - b));
    expect(new Set(times).size).to.equal(times.length);
    expect(times.every((time) => time > toS - HISTORY_S && time < toS)).to.equal(true);
    const within = (seconds: number) => times.filter((time) => time > toS - seconds).length;
    expect(within(300)).to.be.at.least(4);
    expect(within(3_600)).to.be.at.least(55);
    expect(within(86_400)).to.be.at.least(180);
    expect(times.length - within(86_400)).to.be.at.least(24 * 7 - 1);
    expect(times.length).to.be.below(400);
  });

  it("fills a short absence with what fits", () => {
    const times = historyTimes(GENESIS_S - 1_800, GENESIS_S);
    expect(times.length).to.be.within(25, 30);
    expect(historyTimes(GENESIS_S, GENESIS_S)).to.deep.equal([]);
  });
});
