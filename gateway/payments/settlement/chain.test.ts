import { expect } from "chai";
import { after, before, it } from "mocha";
import { encodeFunctionData, type Hex } from "viem";
import type { PrivateKeyAccount } from "viem/accounts";
import { stablecoinAbi } from "../../../deploy/devnet/contracts/stablecoin.ts";
import { type PaymentChain as Devnet, startPaymentChain } from "../../../deploy/devnet/usdc/testkit.ts";
import { USDC } from "../../../deploy/devnet/usdc/usdc.ts";
import { describeWithChain } from "../../../services/shared/testkit/describe.ts";
import { createBurningPayer } from "../../testkit/payments/contract-wallet.ts";
import { createPaymentChain, type PaymentChain, type Transfer } from "./chain.ts";

const DOMAIN = { name: "USD Coin", version: "2", chainId: 8453, verifyingContract: USDC } as const;
const FRIEND: Hex = `0x${"f1".repeat(20)}`;
const TILL: Hex = `0x${"71".repeat(20)}`;

describeWithChain("payments on the chain", () => {
  let devnet: Devnet;
  let chain: PaymentChain;
  let payer: PrivateKeyAccount;
  let count = 0;
  let fromBlock = 0;

  before(async () => {
    devnet = await startPaymentChain();
    chain = createPaymentChain({ chainId: 8453, urls: [devnet.url] });
    [payer] = (await devnet.createPayers(1)) as [PrivateKeyAccount];
    fromBlock = await chain.headNumber();
  });
  after(async () => {
    chain?.close();
    await devnet?.stop();
  });

  const newNonce = (): Hex => {
    count += 1;
    return `0x${count.toString(16).padStart(64, "0")}`;
  };
  const transferOf = (nonce: Hex, changes: Partial<Transfer> = {}): Transfer => ({
    asset: USDC,
    from: payer.address.toLowerCase() as Hex,
    to: TILL,
    value: 50_000n,
    nonce,
    ...changes,
  });
  const send = async (data: Hex): Promise<Hex> => {
    const [from] = await devnet.anvil.rpc.call<[Hex]>("eth_accounts");
    const call = { from, to: USDC, data, gas: "0x30000" };
    const hash = await devnet.anvil.rpc.call<Hex>("eth_sendTransaction", [call]);
    // The node returns the hash before the block exists.
    await devnet.client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
    return hash;
  };
  const pay = async (nonce: Hex, { to = TILL, value = 50_000n } = {}): Promise<Hex> => {
    const message = { from: payer.address, to, value, validAfter: 0n, validBefore: 2n ** 40n, nonce };
    const field = (type: string) => (name: string) => ({ name, type });
    const signature = await payer.signTypedData({
      domain: DOMAIN,
      types: {
        TransferWithAuthorization: [
          ...["from", "to"].map(field("address")),
          ...["value", "validAfter", "validBefore"].map(field("uint256")),
          field("bytes32")("nonce"),
        ],
      },
      primaryType: "TransferWithAuthorization",
      message,
    });
    const args = [payer.address, to, value, 0n, 2n ** 40n, nonce, signature] as const;
    return send(encodeFunctionData({ abi: stablecoinAbi, functionName: "transferWithAuthorization", args }));
  };

  it("reads what a wallet has for gas, beyond what a number holds exactly", async () => {
    const { address } = await devnet.createWallet();
    const wei = await devnet.client.getBalance({ address });
    expect(wei > BigInt(Number.MAX_SAFE_INTEGER)).to.equal(true);
    expect(await chain.balanceOf(address)).to.equal(wei);
    expect(await chain.balanceOf(FRIEND)).to.equal(0n);
  });

  it("are unused before, at the time of a block", async () => {
    const { timestamp } = await devnet.client.getBlock();
    const sighting = await chain.readTransferStatus(transferOf(newNonce()), { fromBlock });
    expect(sighting.kind).to.equal("unused");
    expect((sighting as { time: number }).time).to.be.at.least(Number(timestamp));
  });

  it("are found by a given transaction, and without it", async () => {
    const nonce = newNonce();
    const transaction = await pay(nonce);
    const paid = { kind: "paid", transaction };
    expect(await chain.readTransferStatus(transferOf(nonce), { fromBlock })).to.deep.equal(paid);
    expect(await chain.readTransferStatus(transferOf(nonce), { fromBlock, transaction })).to.deep.equal(paid);
    const other = await pay(newNonce());
    expect(
      await chain.readTransferStatus(transferOf(nonce), { fromBlock, transaction: other }),
    ).to.deep.equal(paid);
    const unknown: Hex = `0x${"ab".repeat(32)}`;
    expect(
      await chain.readTransferStatus(transferOf(nonce), { fromBlock, transaction: unknown }),
    ).to.deep.equal(paid);
  });

  it("are found however many blocks have passed, also where a node refuses long ranges", async () => {
    const nonce = newNonce();
    const transaction = await pay(nonce);
    await devnet.anvil.rpc.call("anvil_mine", ["0xfa"]);
    const later = newNonce();
    const last = await pay(later);
    expect(await chain.readTransferStatus(transferOf(nonce), { fromBlock })).to.deep.equal({
      kind: "paid",
      transaction,
    });
    expect(await chain.readTransferStatus(transferOf(later), { fromBlock })).to.deep.equal({
      kind: "paid",
      transaction: last,
    });
    const { createServer } = await import("node:http");
    const strict = createServer(async (req, res) => {
      let body = "";
      for await (const chunk of req) body += chunk;
      const { id, method, params } = JSON.parse(body);
      const { fromBlock: from, toBlock: to } = params?.[0] ?? {};
      const isLong = method === "eth_getLogs" && Number(to) - Number(from) >= 100;
      const error = { code: -32_005, message: "block range is too large: limited to 100 blocks" };
      const answer = isLong
        ? JSON.stringify({ jsonrpc: "2.0", id, error })
        : await (
            await fetch(devnet.url, { method: "POST", body, headers: { "content-type": "application/json" } })
          ).text();
      res.writeHead(200, { "content-type": "application/json" }).end(answer);
    });
    await new Promise<void>((resolve) => strict.listen(0, "127.0.0.1", resolve));
    const { port } = strict.address() as { port: number };
    const narrow = createPaymentChain({
      chainId: 8453,
      urls: [`http://127.0.0.1:${port}`],
      options: { batchSize: 1 },
    });
    const start = (await chain.headNumber()) - 250;
    expect(await narrow.readTransferStatus(transferOf(later), { fromBlock: start })).to.deep.equal({
      kind: "paid",
      transaction: last,
    });
    narrow.close();
    strict.closeAllConnections();
    strict.close();
  });

  it("are spent where the nonce went elsewhere: to another address, over another amount, or cancelled", async () => {
    const [toFriend, less, cancelled] = [newNonce(), newNonce(), newNonce()];
    const transaction = await pay(toFriend, { to: FRIEND });
    await pay(less, { value: 49_999n });
    const signature = await payer.signTypedData({
      domain: DOMAIN,
      types: {
        CancelAuthorization: [
          { name: "authorizer", type: "address" },
          { name: "nonce", type: "bytes32" },
        ],
      },
      primaryType: "CancelAuthorization",
      message: { authorizer: payer.address, nonce: cancelled },
    });
    const args = [payer.address, cancelled, signature] as const;
    await send(encodeFunctionData({ abi: stablecoinAbi, functionName: "cancelAuthorization", args }));
    for (const nonce of [toFriend, less, cancelled])
      expect(await chain.readTransferStatus(transferOf(nonce), { fromBlock })).to.deep.equal({
        kind: "spent",
      });
    expect(await chain.readTransferStatus(transferOf(toFriend), { fromBlock, transaction })).to.deep.equal({
      kind: "spent",
    });
  });

  it("are unclear where the use is older than the searched blocks", async () => {
    const nonce = newNonce();
    await pay(nonce);
    await devnet.mine();
    const late = (await chain.headNumber()) + 1;
    expect(await chain.readTransferStatus(transferOf(nonce), { fromBlock: late })).to.deep.equal({
      kind: "unclear",
    });
  });

  it("are not looked up on another chain", async () => {
    const other = createPaymentChain({ chainId: 1, urls: [devnet.url], options: { totalMs: 100 } });
    const failure = await other.headNumber().catch((error: Error) => error.message);
    expect(failure).to.contain("wrong chain");
    other.close();
  });

  it("returns which of many authorizations are used, in their order", async () => {
    const nonces = Array.from({ length: 203 }, newNonce);
    await pay(nonces[2] as Hex);
    await pay(nonces[201] as Hex);
    const states = await chain.readStates(nonces.map((nonce) => transferOf(nonce)));
    const used = states.flatMap(({ isUsed }, place) => (isUsed ? [place] : []));
    expect(used).to.deep.equal([2, 201]);
    const { timestamp } = await devnet.client.getBlock();
    expect(states.every(({ time }) => Math.abs(time - Number(timestamp)) < 60)).to.equal(true);
    expect(await chain.readStates([])).to.deep.equal([]);
  });

  it("lets a contract check a signature, with little gas and within a time limit", async () => {
    const signed = { digest: `0x${"dd".repeat(32)}`, signature: `0x${"ab".repeat(66)}` } as const;
    const isAccepted = async (rounds: bigint) => {
      const { address } = await createBurningPayer({ chain: devnet }, { rounds });
      return chain.isAcceptedByContract({ wallet: address, ...signed });
    };
    expect(await isAccepted(1n)).to.equal(true);
    const startedMs = performance.now();
    expect(await isAccepted(2n ** 64n)).to.equal(false);
    expect(performance.now() - startedMs).to.be.below(3_000);
    for (const wallet of [payer.address, USDC])
      expect(await chain.isAcceptedByContract({ wallet, ...signed })).to.equal(false);
  });
});
