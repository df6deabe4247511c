import { expect } from "chai";
import { after, before, it } from "mocha";
import { encodeFunctionData, parseAbi } from "viem";
import { MULTICALL3 } from "../../../../deploy/devnet/node/multicall.ts";
import { createTestChain, type TestChain } from "../../../../deploy/devnet/testkit.ts";
import { ReorgDetected } from "../../chain-errors.ts";
import { describeWithChain } from "../../testkit/describe.ts";
import { Multicall } from "../multicall/multicall.ts";
import type { EvmSource, Hex } from "../port.ts";
import { createEvmSource } from "../source/source.ts";

const erc20 = parseAbi([
  "function decimals() view returns (uint8)",
  "function balanceOf(address) view returns (uint256)",
  "function nothingOfTheKind() view",
]);

describeWithChain("Multicall over anvil", () => {
  let chain: TestChain;
  let source: EvmSource;
  before(async () => {
    chain = await createTestChain();
    source = createEvmSource({ chainId: 8453, urls: [chain.url] });
  });
  after(async () => {
    await source?.close();
    await chain?.stop();
  });

  /** Balances of all pools, decimals, a revert and an empty account; expected values are requested call by call. */
  async function expectTruth(
    calls: Multicall,
    block: { number: number; hash: Hex },
  ): Promise<(Hex | null)[]> {
    const requested = chain.pools.flatMap(({ address, token0, token1 }) =>
      [token0, token1].flatMap((token) => [
        {
          to: token.address,
          data: encodeFunctionData({ abi: erc20, functionName: "balanceOf", args: [address] }),
        },
        { to: token.address, data: encodeFunctionData({ abi: erc20, functionName: "nothingOfTheKind" }) },
        { to: address, data: encodeFunctionData({ abi: erc20, functionName: "decimals" }) },
        { to: `0x${"9".repeat(40)}` as const, data: "0x12345678" as const },
      ]),
    );
    const truth = await Promise.all(
      requested.map((call) =>
        chain.anvil.rpc
          .call<Hex>("eth_call", [call, `0x${block.number.toString(16)}`])
          .then((returned) => (returned === "0x" ? null : returned))
          .catch(() => null),
      ),
    );
    const reading = calls.at(block);
    expect(await Promise.all(requested.map(({ to, data }) => reading.call(to, data)))).to.deep.equal(truth);
    expect(truth.filter((each) => each !== null).length).to.be.greaterThan(15);
    return truth;
  }

  it("returns what the node does call by call, in batches and without Multicall3", async () => {
    const head = await source.head();
    const batched = await expectTruth(new Multicall({ source, address: MULTICALL3, maxCalls: 30 }), head);
    expect(await expectTruth(new Multicall({ source, address: chain.deployment.desk }), head)).to.deep.equal(
      batched,
    );
    expect(await expectTruth(new Multicall({ source, address: `0x${"8".repeat(40)}` }), head)).to.deep.equal(
      batched,
    );
  });

  it("reads the block it is pinned to while others are mined, until that is replaced", async () => {
    const multicall = new Multicall({ source, address: MULTICALL3 });
    const head = await source.head();
    const [pool] = chain.pools;
    const swap = () => chain.swap(pool?.address ?? "0x", { zeroForOne: true, amount: 10n ** 15n });
    await swap();
    await chain.mine(3);
    const before = await expectTruth(multicall, head);
    const later = await source.head();
    expect(await expectTruth(multicall, later)).not.to.deep.equal(before);
    await chain.reorg(2, { transactionsPerBlock: 1 });
    const error = await multicall
      .at(later)
      .call(MULTICALL3, "0x42cbb15c")
      .catch((caught: unknown) => caught);
    expect(error).to.be.instanceOf(ReorgDetected);
  });
});
