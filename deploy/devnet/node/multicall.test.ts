import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { multicall3Abi, parseAbi } from "viem";
import { describeWithChain } from "../../../services/shared/testkit/describe.ts";
import { createTestChain, type TestChain } from "../testkit.ts";
import { MULTICALL3 } from "./multicall.ts";

const more = parseAbi([
  "function getBlockNumber() view returns (uint256)",
  "function getBlockHash(uint256) view returns (bytes32)",
  "function getLastBlockHash() view returns (bytes32)",
  "function getChainId() view returns (uint256)",
]);

describeWithChain("devnet: Multicall3", () => {
  let chain: TestChain;
  let directory: string;
  before(async () => {
    chain = await createTestChain();
    directory = await mkdtemp(join(tmpdir(), "chaintables-multicall-"));
  });
  after(async () => {
    await chain?.stop();
    if (directory !== undefined) await rm(directory, { recursive: true, force: true });
  });

  it("answers an unmodified client as the contracts themselves do, and lets calls fail", async () => {
    const { USDC, WETH } = chain.deployment.tokens;
    const erc20 = parseAbi([
      "function decimals() view returns (uint8)",
      "function nope() view returns (uint8)",
    ]);
    const answers = await chain.client.multicall({
      multicallAddress: MULTICALL3,
      contracts: [
        { address: USDC.address, abi: erc20, functionName: "decimals" },
        { address: USDC.address, abi: erc20, functionName: "nope" },
        { address: WETH.address, abi: erc20, functionName: "decimals" },
        { address: MULTICALL3, abi: multicall3Abi, functionName: "getCurrentBlockTimestamp" },
        {
          address: MULTICALL3,
          abi: multicall3Abi,
          functionName: "getEthBalance",
          args: [chain.deployment.desk],
        },
      ],
    });
    expect(answers.map(({ status }) => status)).to.deep.equal([
      "success",
      "failure",
      "success",
      "success",
      "success",
    ]);
    expect([answers[0]?.result, answers[2]?.result]).to.deep.equal([6, 18]);
    const { timestamp } = await chain.header(await chain.headNumber());
    expect(answers[3]?.result).to.equal(BigInt(timestamp));
    const balance = await chain.client.getBalance({ address: chain.deployment.desk });
    expect(answers[4]?.result).to.equal(balance);
  });

  it("returns block and chain, after a reorg and in a chain that was saved and loaded too", async () => {
    expect(await ownView(chain)).to.deep.equal(await chainView(chain));
    await chain.mine(20);
    await chain.reorg(18, { transactionsPerBlock: 0 });
    const stateFile = join(directory, "chain.json");
    await chain.anvil.saveState(stateFile);
    const loaded = await createTestChain({ stateFile });
    try {
      // Of replaced blocks anvil goes on telling contracts the old hashes.
      for (const each of [chain, loaded]) {
        const { parentHash: _, ...seen } = await ownView(each);
        expect(await chainView(each)).to.deep.include(seen);
      }
    } finally {
      await loaded.stop();
    }
  });
});

async function ownView({ client, headNumber }: TestChain) {
  const blockNumber = BigInt(await headNumber());
  const at = { address: MULTICALL3, abi: more, blockNumber } as const;
  const parentHash = await client.readContract({ ...at, functionName: "getLastBlockHash" });
  const same = await client.readContract({ ...at, functionName: "getBlockHash", args: [blockNumber - 1n] });
  expect(same).to.equal(parentHash);
  return {
    number: await client.readContract({ ...at, functionName: "getBlockNumber" }),
    chainId: await client.readContract({ ...at, functionName: "getChainId" }),
    parentHash,
  };
}

async function chainView(chain: TestChain) {
  const number = await chain.headNumber();
  const { hash: parentHash } = await chain.header(number - 1);
  return { number: BigInt(number), chainId: 8453n, parentHash };
}
