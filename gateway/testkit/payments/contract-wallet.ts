import { encodeDeployData, type Hex } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { burningWallet } from "../../../deploy/devnet/contracts/wallets/artifacts.ts";
import { mintUsdc } from "../../../deploy/devnet/usdc/usdc.ts";
import { createPayer, type Payer } from "./payer.ts";
import type { PaymentEnvironment } from "./payment-gateway.ts";

/** A payer whose wallet is a contract that takes any signature, and burns gas over it in so many rounds. */
export async function createBurningPayer(
  { chain }: Pick<PaymentEnvironment, "chain">,
  { rounds, hides = false }: { readonly rounds: bigint; readonly hides?: boolean },
): Promise<Payer> {
  const { rpc } = chain.anvil;
  const [from] = await rpc.call<[Hex]>("eth_accounts");
  const data = encodeDeployData({ ...burningWallet, args: [rounds, hides] });
  const hash = await rpc.call<Hex>("eth_sendTransaction", [{ from, data, gas: "0x200000" }]);
  const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
  const address = contractAddress as Hex;
  await mintUsdc(rpc, { [address]: 1_000_000n });
  // Longer than that of a key: the token then calls the wallet, as it does for every contract.
  const signTypedData = async () => `0x${"ab".repeat(66)}` as const;
  return createPayer({ address, signTypedData } as unknown as PrivateKeyAccount);
}
