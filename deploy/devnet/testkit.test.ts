import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { describeWithChain } from "../../services/shared/testkit/describe.ts";
import { deploymentsDocument } from "./deployments-file.ts";
import { POOLS } from "./market.ts";
import { AnvilStartError, startAnvil } from "./node/anvil.ts";
import { findAnvilBinary } from "./node/anvil-binary.ts";
import { basePositions, type DeployedPool } from "./pools.ts";
import { createTestChain, type TestChain } from "./testkit.ts";

const GENESIS_S = 1_760_000_000;

describe("devnet: anvil", () => {
  it("names the platform it has no binary for", () => {
    expect(() => findAnvilBinary("sunos", "sparc")).to.throw(/No anvil for sunos-sparc/);
  });

  it("says that its port is taken", async () => {
    const first = await startAnvil();
    try {
      const error = await startAnvil({ port: first.port }).catch((caught: unknown) => caught);
      expect(error).to.be.instanceOf(AnvilStartError);
      expect((error as AnvilStartError).portInUse).to.equal(true);
    } finally {
      await first.stop();
    }
  });
});

describeWithChain("devnet: test chain", () => {
  let chain: TestChain;
  before(async () => {
    chain = await createTestChain({ timestamp: GENESIS_S });
  });
  after(() => chain.stop());

  it("has every pool of the market, created by the factory, at the planned address", async () => {
    const created = (await chain.events()).filter((event) => event.eventName === "PoolCreated");
    expect(created.map((event) => event.args.pool.toLowerCase())).to.deep.equal(
      chain.pools.map((pool) => pool.address),
    );
    expect(created).to.have.length(POOLS.length);
    expect(new Set(created.map((event) => event.args.fee))).to.deep.equal(new Set([100, 500, 3000, 10000]));
    expect(new Set(created.map((event) => event.address.toLowerCase()))).to.deep.equal(
      new Set([chain.deployment.factory]),
    );
  });

  it("has the promised depth: a million USD a side in main pools, less than 10,000 USD in the thin one", async () => {
    for (const { address, token0, token1, spec } of chain.pools) {
      for (const token of [token0, token1]) {
        const raw = await chain.balanceOf(token.address, address);
        const usd = (Number(raw) / 10 ** token.decimals) * token.usd;
        const name = `${spec.base}/${spec.quote}: ${token.symbol}`;
        if (spec.base === "THIN") expect(usd, name).to.be.within(2_000, 4_000);
        else if (spec.base !== "ISLE") expect(usd, name).to.be.within(0.95 * 1_000_000, 13_000_000);
      }
    }
  });

  it("names factory, first block and stablecoins in the deployments document", () => {
    const [of8453] = deploymentsDocument(chain.deployment).evmDex.chains;
    expect(of8453?.chainId).to.equal(8453);
    expect(of8453?.stablecoins).to.deep.equal([
      chain.deployment.tokens.USDC.address,
      chain.deployment.tokens.DAI.address,
    ]);
    expect(of8453?.factories[0]).to.include({
      address: chain.deployment.factory,
      kind: "uniswap-v3",
      fromBlock: 1,
    });
  });

  it("moves slot0 and balances by exactly what a swap's receipt says", async () => {
    const pool = chain.pools[0] as DeployedPool;
    const head = await chain.headNumber();
    const before0 = await chain.balanceOf(pool.token0.address, pool.address);
    const sender = chain.accounts[7] as `0x${string}`;
    const hash = await chain.swap(pool.address, { zeroForOne: true, amount: 12_345_678_901n, from: sender });
    expect(await chain.headNumber(), "nothing is mined unasked").to.equal(head);
    expect(await chain.mine()).to.equal(head + 1);

    const events = await chain.eventsOf(hash);
    expect(events.map((event) => event.eventName)).to.deep.equal(["Swap"]);
    const swap = events[0];
    if (swap?.eventName !== "Swap") throw new Error("not a swap");
    expect(swap.args.amount0).to.equal(12_345_678_901n);
    const now = await chain.slot0(pool.address);
    expect([now.sqrtPriceX96, now.tick]).to.deep.equal([swap.args.sqrtPriceX96, swap.args.tick]);
    expect(await chain.liquidity(pool.address)).to.equal(swap.args.liquidity);
    expect((await chain.balanceOf(pool.token0.address, pool.address)) - before0).to.equal(swap.args.amount0);
    expect(
      await chain.balanceOf(pool.token0.address, pool.address, head),
      "the state before stays readable",
    ).to.equal(before0);
    const { from } = await chain.client.getTransaction({ hash });
    expect(from.toLowerCase()).to.equal(sender);
  });

  it("adds and removes liquidity, and lends flash", async () => {
    const pool = chain.pools[0] as DeployedPool;
    const [base] = basePositions(pool) as [ReturnType<typeof basePositions>[number]];
    const position = { lower: base.lower, upper: base.upper, liquidity: 10n ** 15n };
    const before = await chain.liquidity(pool.address);
    const added = await chain.addLiquidity(pool.address, position);
    await chain.mine();
    expect((await chain.liquidity(pool.address)) - before).to.equal(position.liquidity);
    const removed = await chain.removeLiquidity(pool.address, position);
    const lent = await chain.flash(pool.address, [1_000_000n, 2_000_000n]);
    await chain.mine();
    expect(await chain.liquidity(pool.address)).to.equal(before);
    expect((await chain.eventsOf(added)).map((event) => event.eventName)).to.deep.equal(["Mint"]);
    expect((await chain.eventsOf(removed)).map((event) => event.eventName)).to.deep.equal([
      "Burn",
      "Collect",
    ]);
    expect((await chain.eventsOf(lent)).map((event) => event.eventName)).to.deep.equal(["Flash"]);
  });

  it("mines blocks at the given interval", async () => {
    const head = await chain.mine(3, { intervalS: 7 });
    const times = await Promise.all(
      [head - 2, head - 1, head].map(async (block) => (await chain.header(block)).timestamp),
    );
    expect([
      (times[1] as number) - (times[0] as number),
      (times[2] as number) - (times[1] as number),
    ]).to.deep.equal([7, 7]);
    await chain.mine(1, { intervalS: 2 });
  });

  it("replaces blocks in a reorg: other hashes, other logs, the same parent and height", async () => {
    for (let block = 0; block < 6; block++) {
      await chain.send(chain.randomActions(block, 3));
      await chain.mine();
    }
    const head = await chain.headNumber();
    const hashes = await Promise.all(
      [head - 4, head - 3, head].map(async (block) => (await chain.header(block)).hash),
    );
    const dropped = await chain.events({ fromBlock: head - 3 });
    const kept = await chain.events({ toBlock: head - 4 });

    expect(await chain.reorg(4, { transactionsPerBlock: 2, seed: 99 })).to.equal(head);

    const after = await Promise.all(
      [head - 4, head - 3, head].map(async (block) => (await chain.header(block)).hash),
    );
    expect(after[0]).to.equal(hashes[0]);
    expect(after[1]).to.not.equal(hashes[1]);
    expect(after[2]).to.not.equal(hashes[2]);
    expect((await chain.header(head - 3)).parentHash).to.equal(after[0]);
    expect(await chain.events({ toBlock: head - 4 })).to.deep.equal(kept);
    const replacement = await chain.events({ fromBlock: head - 3 });
    expect(replacement).to.have.length(8);
    const droppedHashes = new Set(dropped.map((event) => event.blockHash));
    expect(replacement.some((event) => droppedHashes.has(event.blockHash))).to.equal(false);
  });
});

describeWithChain("devnet: saved chain", () => {
  it("comes back with every block, log, sender and old genesis, and goes on from there", async () => {
    const directory = await mkdtemp(join(tmpdir(), "chaintables-devnet-test-"));
    const stateFile = join(directory, "chain.json");
    try {
      const first = await createTestChain({ timestamp: GENESIS_S, poolCount: 2 });
      await first.send(first.randomActions(5, 8));
      const head = await first.mine();
      const events = await first.events();
      const block = await first.client.getBlock({ blockNumber: BigInt(head), includeTransactions: true });
      await first.anvil.saveState(stateFile);
      await first.stop();

      const second = await createTestChain({ stateFile, poolCount: 2 });
      try {
        expect(second.deployment).to.deep.equal(first.deployment);
        expect(await second.headNumber()).to.equal(head);
        expect(await second.events()).to.deep.equal(events);
        const again = await second.client.getBlock({ blockNumber: BigInt(head), includeTransactions: true });
        expect(again).to.deep.equal(block);
        const pool = second.pools[0] as DeployedPool;
        const hash = await second.swap(pool.address, { zeroForOne: false, amount: 1_000_000n });
        expect(await second.mine()).to.equal(head + 1);
        expect(await second.eventsOf(hash)).to.have.length(1);
        expect((await second.header(head + 1)).timestamp).to.equal(Number(block.timestamp) + 2);
      } finally {
        await second.stop();
      }
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it("keeps its first block through any number of stops", async () => {
    const directory = await mkdtemp(join(tmpdir(), "chaintables-devnet-test-"));
    const stateFile = join(directory, "chain.json");
    try {
      const hashes: string[] = [];
      for (let start = 0; start < 4; start++) {
        const chain = await createTestChain({ stateFile, timestamp: GENESIS_S + start, poolCount: 1 });
        try {
          await chain.mine(2);
          hashes.push((await chain.header(0)).hash, (await chain.header(1)).parentHash);
          await chain.anvil.saveState(stateFile);
        } finally {
          await chain.stop();
        }
      }
      expect(new Set(hashes).size, hashes.join(" ")).to.equal(1);
      // Each start that made a first block of its own would have left it in the file.
      const { blocks } = JSON.parse(await readFile(stateFile, "utf8"));
      const numbers = blocks.map((block: { header: { number: string } }) => Number(block.header.number));
      expect(numbers.filter((number: number) => number === 0)).to.have.length(1);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});
