import {
  concat,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  maxUint136,
  maxUint256,
  parseAbi,
  zeroAddress,
  zeroHash,
} from "viem";
import { devToken } from "../../../deploy/devnet/contracts/artifacts.ts";
import { eulerOracle, eulerPerspective } from "../../../deploy/devnet/contracts/euler/artifacts.ts";
import { vaultFactory } from "../../../deploy/devnet/contracts/morpho/artifacts.ts";
import { USD } from "../../../deploy/devnet/euler/plan.ts";
import {
  onEarn,
  onEarnFactory,
  onOracle,
  onPerspective,
  onVault,
  onVaultFactory,
} from "../../../deploy/devnet/euler/transactions.ts";
import { vaultCode } from "../../../deploy/devnet/morpho/plan.ts";
import { vaultCall } from "../../../deploy/devnet/morpho/transactions.ts";
import type { Address, Transaction } from "../../../deploy/devnet/node/transactions.ts";
import type { TestChain } from "../../../deploy/devnet/testkit.ts";

const GAS: Hex = "0xb71b00";
const tokenAbi = parseAbi([
  "function mint(address to, uint256 value)",
  "function approve(address spender, uint256 value) returns (bool)",
]);

/** What strangers have made. */
export interface Strangers {
  /** EVK, EulerEarn and MetaMorpho vaults. */
  readonly vaults: readonly Address[];
  readonly tokens: readonly Address[];
  /** What could not be done, since it is Euler's alone. */
  readonly refused: Hex;
}

/**
 * Vaults, oracles and curators as anybody can make them: with a price of 1e34, a governor and curators that never agreed,
 * names and symbols of others, oracles that burn all gas, collaterals and strategies in circles, an escrow of a token that
 * nobody wants in Euler's own perspective, and a perspective of their own.
 */
export async function sendStrangers(
  chain: TestChain,
  { stranger, known }: { stranger: Address; known: { euler: Address; morpho: Address } },
): Promise<Strangers> {
  const { client, euler, morpho } = chain;
  const { factory, earnFactory, perspectives, vaults: listed } = euler.deployment;
  const { USDC } = euler.deployment.tokens;

  /** Mines the transactions, all of which must succeed; returns the contracts or clones that they made. */
  async function made(...transactions: Transaction[]): Promise<Address[]> {
    const hashes = await chain.sendTransactions(transactions);
    await chain.mine(1, { intervalS: 2 });
    const receipts = await Promise.all(hashes.map((hash) => client.getTransactionReceipt({ hash })));
    const failed = receipts.findIndex(({ status }) => status !== "success");
    if (failed !== -1) throw new Error(`The stranger's transaction ${failed} failed.`);
    return receipts.flatMap(({ contractAddress, logs }) => {
      if (contractAddress) return [contractAddress.toLowerCase() as Address];
      const creation = logs.find(({ topics }) => CREATIONS.has(topics[0] as Hex));
      return creation ? [`0x${creation.topics[1]?.slice(26)}` as Address] : [];
    });
  }
  const deploy = (data: Hex): Transaction => ({ from: stranger, data, gas: GAS });
  const onToken = (token: Address, functionName: "mint" | "approve", args: readonly [Address, bigint]) => {
    const data = encodeFunctionData({ abi: tokenAbi, functionName, args });
    return { from: stranger, to: token, data, gas: GAS } as Transaction;
  };

  const token = (name: string, symbol: string, decimals: number) =>
    deploy(encodeDeployData({ ...devToken, args: [name, symbol, decimals] }));
  const [spam, fake, oracle, own, burner, endless] = (await made(
    token("Spam", "SPAM", 18),
    token("USD Coin", "USDC", 6),
    deploy(eulerOracle.bytecode),
    deploy(encodeDeployData({ ...eulerPerspective, args: [true] })),
    // An invalid instruction takes all gas; so does a jump to itself, for longer.
    deploy("0x60fe60005360016000f3"),
    deploy("0x635b6000566000526004601cf3"),
  )) as [Address, Address, Address, Address, Address, Address];

  const price = (asset: Address) =>
    onOracle(stranger, oracle, { functionName: "setPrice", args: [asset, USD, 10n ** 52n] });
  const evk = (asset: Address, from: Address) =>
    onVaultFactory(stranger, factory, {
      ...{ functionName: "createProxy", args: [zeroAddress, true, concat([asset, from, USD])] },
    });
  const escrow = onVaultFactory(stranger, factory, {
    ...{ functionName: "createProxy", args: [zeroAddress, true, concat([spam, zeroAddress, zeroAddress])] },
  });
  const evkVaults = await made(
    price(spam),
    price(fake),
    price(USDC.address),
    evk(spam, oracle),
    evk(fake, oracle),
    evk(USDC.address, oracle),
    evk(USDC.address, burner),
    evk(spam, endless),
    escrow,
  );
  const [spamVault, fakeVault, dollars, burning, slow, spamEscrow] = evkVaults as [
    Address,
    Address,
    Address,
    Address,
    Address,
    Address,
  ];
  const accept = (vault: Address, collateral: Address) =>
    onVault(stranger, vault, { functionName: "setLTV", args: [collateral, 9_000, 9_500, 0] });
  const amount = 12_345n * 10n ** 18n;
  const deposit = (vault: Address, asset: Address) => [
    onToken(asset, "mint", [stranger, amount]),
    onToken(asset, "approve", [vault, maxUint256]),
    onVault(stranger, vault, { functionName: "deposit", args: [amount / 2n, stranger] }),
  ];
  await made(
    ...deposit(spamVault, spam),
    ...deposit(fakeVault, fake),
    ...deposit(spamEscrow, spam),
    // In circles, and on listed vaults.
    accept(spamVault, fakeVault),
    accept(fakeVault, spamVault),
    accept(slow, spamEscrow),
    ...listed.map(({ address }) => accept(dollars, address)),
    onPerspective(stranger, perspectives.escrow, {
      ...{ functionName: "perspectiveVerify", args: [spamEscrow, true] },
    }),
    ...evkVaults.map((vault) =>
      onPerspective(stranger, own, { functionName: "perspectiveVerify", args: [vault, true] }),
    ),
    ...[fakeVault, burning].map((vault) =>
      onVault(stranger, vault, { functionName: "setGovernorAdmin", args: [known.euler] }),
    ),
  );

  const earn = (name: string, symbol: string, asset: Address) =>
    onEarnFactory(stranger, earnFactory, {
      ...{ functionName: "createEulerEarn", args: [stranger, 0n, asset, name, symbol, zeroHash] },
    });
  const earnVaults = await made(earn("Prime USDC", "pUSDC", spam), earn("Steady Ether", "sWETH", spam));
  const [prime, steady] = earnVaults as [Address, Address];
  const strategy = (vault: Address, id: Address) => [
    onEarn(stranger, vault, { functionName: "submitCap", args: [id, maxUint136] }),
    onEarn(stranger, vault, { functionName: "acceptCap", args: [id] }),
    onEarn(stranger, vault, { functionName: "setCurator", args: [known.euler] }),
  ];
  await made(...strategy(steady, spamVault), ...strategy(prime, steady));
  // The circle cannot be closed: what its vaults are worth would have no end.
  await chain.sendTransactions(strategy(steady, prime));
  await chain.mine(1, { intervalS: 2 });

  const meta = (name: string, symbol: string, asset: Address) => {
    const creation = { initialOwner: stranger, initialTimelock: 0n, asset, name, symbol, salt: zeroHash };
    const data = encodeFunctionData({
      ...{ abi: vaultFactory.abi, functionName: "createMetaMorpho", args: [vaultCode("1.1"), creation] },
    } as const);
    return { from: stranger, to: morpho.deployment.factories["1.1"], data, gas: GAS } as Transaction;
  };
  const metaVaults = await made(
    meta("Prime USDC", "primeUSDC", spam),
    meta("Prime USDC", "primeUSDC", USDC.address),
  );
  await made(...metaVaults.map((vault) => vaultCall([stranger, vault], "setCurator", [known.morpho])));

  const [refused] = await chain.sendTransactions([
    onPerspective(stranger, perspectives.governed, {
      ...{ functionName: "perspectiveVerify", args: [spamVault, true] },
    }),
  ]);
  await chain.mine(1, { intervalS: 2 });
  const vaults = [...evkVaults, ...earnVaults, ...metaVaults];
  return { vaults, tokens: [spam, fake], refused: refused as Hex };
}

const CREATIONS: ReadonlySet<Hex> = new Set([
  "0x04e664079117e113faa9684bc14aecb41651cbf098b14eda271248c6d0cda57c",
  "0x2ecfce4fdb2055c9639b56f59c2a14eeafce06a51d93d898155bc11b6141896f",
  "0xed8c95d05909b0f217f3e68171ef917df4b278d5addfe4dda888e90279be7d1d",
]);
