import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { encodeFunctionData, type Hex } from "viem";
import { feedAggregator, feedProxy } from "../../../../deploy/devnet/contracts/feed/artifacts.ts";
import type { TestChain } from "../../../../deploy/devnet/testkit.ts";

const GAS: Hex = "0x2dc6c0";

/** A USD feed for a test chain's USDC. */
export interface TestFeed {
  /** Deployments that name it, in a folder of their own. */
  readonly deploymentsFile: string;
  /** Queues an answer, 8 decimals; of another aggregator than the first where one is named. */
  tell(answer: bigint, aggregator?: Hex): Promise<void>;
  /** Deploys an aggregator; mines. */
  deployAggregator(): Promise<Hex>;
  /** Queues the proxy's move to an aggregator. */
  moveTo(aggregator: Hex): Promise<void>;
}

/** Deploys a proxy and its aggregator; mines. */
export async function deployFeed(chain: TestChain): Promise<TestFeed> {
  const [from] = chain.accounts;
  const send = (to: Hex | undefined, data: Hex) =>
    chain.anvil.rpc.call<Hex>("eth_sendTransaction", [{ from, ...(to && { to }), data, gas: GAS }]);
  const deploy = async (bytecode: Hex): Promise<Hex> => {
    const hash = await send(undefined, bytecode);
    await chain.mine(1);
    const receipt = await chain.anvil.rpc.call<{ contractAddress: Hex }>("eth_getTransactionReceipt", [hash]);
    return receipt.contractAddress;
  };
  const deployAggregator = () => deploy(feedAggregator.bytecode);
  const first = await deployAggregator();
  const proxy = await deploy(feedProxy.bytecode);
  const moveTo = async (aggregator: Hex) => {
    const args = [aggregator] as const;
    await send(proxy, encodeFunctionData({ abi: feedProxy.abi, functionName: "setAggregator", args }));
  };
  await moveTo(first);
  const file = JSON.parse(await readFile(chain.deploymentsFile, "utf8"));
  const [usdc, ...others] = file.evmDex.chains[0].stablecoins;
  file.evmDex.chains[0].stablecoins = [{ address: usdc, feed: proxy }, ...others];
  const deploymentsFile = join(await mkdtemp(join(tmpdir(), "chaintables-feed-")), "deployments.json");
  await writeFile(deploymentsFile, JSON.stringify(file));
  return {
    deploymentsFile,
    deployAggregator,
    moveTo,
    async tell(answer, aggregator = first) {
      const args = [answer] as const;
      await send(aggregator, encodeFunctionData({ abi: feedAggregator.abi, functionName: "tell", args }));
    },
  };
}
