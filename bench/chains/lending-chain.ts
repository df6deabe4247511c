import {
  concat,
  encodeDeployData,
  encodeFunctionData,
  getContractAddress,
  type Hex,
  pad,
  zeroAddress,
} from "viem";
import { devToken } from "../../deploy/devnet/contracts/artifacts.ts";
import { vaultFactory } from "../../deploy/devnet/contracts/morpho/artifacts.ts";
import { onVaultFactory } from "../../deploy/devnet/euler/transactions.ts";
import { vaultCode } from "../../deploy/devnet/morpho/plan.ts";
import { morphoCall, vaultCall } from "../../deploy/devnet/morpho/transactions.ts";
import {
  type Address,
  mineTransactions,
  type Transaction,
  toHex,
} from "../../deploy/devnet/node/transactions.ts";
import { LENDING_FAMILIES } from "../../deploy/devnet/plan.ts";
import { CREATION_GAS } from "../../deploy/devnet/pools.ts";
import { createTestChain, type TestChain } from "../../deploy/devnet/testkit.ts";

export interface LendingCounts {
  /** Of Morpho. */
  readonly markets: number;
  /** Of MetaMorpho, with `marketsPerVault` each. */
  readonly vaults: number;
  readonly marketsPerVault: number;
  /** Of Euler's Vault Kit. */
  readonly evkVaults: number;
}

/** A block's gas is 500 million. */
const GAS_A_BLOCK = 450_000_000;

/** The devnet's lending protocols with as many further markets and vaults as it says, all genuine contracts. */
export async function buildLendingChain(counts: LendingCounts): Promise<TestChain> {
  const chain = await createTestChain({
    poolCount: 1,
    keptStates: 5,
    families: LENDING_FAMILIES,
  });
  await evkVaults(chain, counts.evkVaults);
  const markets = morphoMarkets(chain, counts.markets);
  await mine(
    chain,
    markets.map(({ creation }) => creation),
  );
  const { vaults: count, marketsPerVault } = counts;
  await morphoVaults(chain, { count, marketsPerVault, markets });
  return chain;
}

/** The devnet's connector names so many vaults of one asset. */
const VAULTS_AN_ASSET = 9;

/** On assets of their own. */
async function evkVaults(chain: TestChain, count: number): Promise<void> {
  const { accounts, deployment } = chain;
  const { euler } = deployment;
  if (euler === undefined) throw new Error("The chain has no Euler.");
  const from = accounts[19] as Address;
  const nonce = Number(await chain.anvil.rpc.call("eth_getTransactionCount", [from, "latest"]));
  const assets = Array.from({ length: Math.ceil(count / VAULTS_AN_ASSET) }, (_, i) => ({
    address: getContractAddress({ from, nonce: BigInt(nonce + i) }),
    data: encodeDeployData({ ...devToken, args: [`Asset ${i}`, `A${i}`, 6] }),
  }));
  await mine(
    chain,
    assets.map(({ data }) => ({ from, data, gas: toHex(2_000_000) })),
  );
  const usd = pad(toHex(840), { size: 20 });
  const creations = Array.from({ length: count }, (_, i) => {
    const asset = assets[i % assets.length]?.address ?? zeroAddress;
    const args = [zeroAddress, true, concat([asset, euler.oracle, usd])] as const;
    const creation = onVaultFactory(euler.owner, euler.factory, { functionName: "createProxy", args });
    return { ...creation, gas: toHex(1_500_000) };
  });
  await mine(chain, creations);
}

interface BenchMarket {
  readonly params: Parameters<typeof morphoCall<"createMarket">>[2][0];
  readonly creation: Transaction;
}

function morphoMarkets({ deployment }: TestChain, count: number): BenchMarket[] {
  const { morpho } = deployment;
  if (morpho === undefined) throw new Error("The chain has no Morpho.");
  const { params } = Object.values(morpho.markets)[0] as (typeof morpho.markets)[keyof typeof morpho.markets];
  return Array.from({ length: count }, (_, i) => {
    // The oracle is not called before the first borrow: any address makes another market.
    const own = { ...params, oracle: pad(toHex(0xbe_0000 + i), { size: 20 }) };
    const creation = morphoCall([morpho.actors.owner, morpho.morpho], "createMarket", [own]);
    return { params: own, creation: { ...creation, gas: toHex(400_000) } };
  });
}

async function morphoVaults(
  chain: TestChain,
  plan: { count: number; marketsPerVault: number; markets: readonly BenchMarket[] },
): Promise<void> {
  const { morpho } = chain.deployment;
  if (morpho === undefined) throw new Error("The chain has no Morpho.");
  const { count, marketsPerVault, markets } = plan;
  const from = morpho.actors.owner;
  const to = morpho.factories["1.1"];
  const asset = markets[0]?.params.loanToken ?? zeroAddress;
  const creations = Array.from({ length: count }, (_, i): Transaction => {
    const [name, symbol, salt] = [`Vault ${i}`, `V${i}`, pad(toHex(i + 1))];
    const creation = { initialOwner: from, initialTimelock: 0n, asset, name, symbol, salt };
    const args = [vaultCode("1.1"), creation] as const;
    const data = encodeFunctionData({ abi: vaultFactory.abi, functionName: "createMetaMorpho", args });
    return { from, to, data, gas: CREATION_GAS };
  });
  const answers = await chain.anvil.rpc.batch<Hex>(
    creations.map((creation) => ({ method: "eth_call", params: [creation, "latest"] })),
  );
  await mine(chain, creations);
  const settings = answers.flatMap((answer, i) => {
    const vault: Address = `0x${answer.slice(-40)}`;
    const own = Array.from({ length: marketsPerVault }, (_, m) => markets[(i * 7 + m) % markets.length]);
    return own.flatMap((market) => {
      if (market === undefined) return [];
      const { params } = market;
      return [
        { ...vaultCall([from, vault], "submitCap", [params, 10n ** 15n]), gas: toHex(300_000) },
        { ...vaultCall([from, vault], "acceptCap", [params]), gas: toHex(400_000) },
      ];
    });
  });
  await mine(chain, settings);
}

/** As many of them a block as fit. Throws where one fails. */
async function mine({ anvil }: TestChain, transactions: readonly Transaction[]): Promise<void> {
  let block: Transaction[] = [];
  let gas = 0;
  for (const transaction of transactions) {
    if (gas + Number(transaction.gas) > GAS_A_BLOCK) {
      await mineTransactions(anvil.rpc, block);
      [block, gas] = [[], 0];
    }
    block.push(transaction);
    gas += Number(transaction.gas);
  }
  if (block.length > 0) await mineTransactions(anvil.rpc, block);
}
