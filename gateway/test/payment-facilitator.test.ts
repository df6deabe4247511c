import { expect } from "chai";
import { after, afterEach, before, describe, it } from "mocha";
import { stablecoinAbi } from "../../deploy/devnet/contracts/stablecoin.ts";
import { USDC } from "../../deploy/devnet/usdc/usdc.ts";
import { describeWithChain } from "../../services/shared/testkit/describe.ts";
import { expectError } from "../testkit/expect-error.ts";
import type { ProxyResponse } from "../testkit/payments/facilitator-proxy.ts";
import { fetchWith, type Payer, receiptOf, signFor } from "../testkit/payments/payer.ts";
import {
  type PayGateway,
  type PaymentEnvironment,
  startPayGateway,
  startPaymentEnvironment,
} from "../testkit/payments/payment-gateway.ts";
import { answerTable, TABLE_TEXT } from "../testkit/upstream.ts";

const FAILED = { success: false, errorReason: "invalid_exact_evm_transaction_failed", transaction: "" };

describeWithChain("gateway: payments and a facilitator", () => {
  let world: PaymentEnvironment;
  let gateway: PayGateway;
  /** Differs from the other in its time limits alone: no test depends on the speed of a busy machine. */
  let hasty: PayGateway;
  let payer: Payer;
  let count = 0;
  const newUrl = () => {
    count += 1;
    return gateway.urlOf(count);
  };
  /** The same resource at the gateway with short time limits. */
  const hastily = (url: string) => url.replace(gateway.payUrl, hasty.payUrl);
  before(async () => {
    world = await startPaymentEnvironment();
    payer = await world.createPayer(10_000_000n);
    const payment = { publicUrl: "https://pay.example" };
    gateway = await startPayGateway(world, { payment });
    hasty = await startPayGateway(world, { payment: { ...payment, settleTimeoutMs: 250 } });
  });
  afterEach(async () => {
    world.facilitatorProxy.overrides = {};
    gateway.solana.answer = answerTable;
  });
  after(async () => {
    await Promise.all([gateway?.stop(), hasty?.stop()]);
    await world?.stop();
  });

  const expectData = async (answer: Response) => {
    expect(answer.status, await answer.clone().text()).to.equal(200);
    expect(await answer.text()).to.equal(TABLE_TEXT);
    expect(receiptOf(answer)?.success).to.equal(true);
    const hash = receiptOf(answer)?.transaction as `0x${string}`;
    expect((await world.chain.client.getTransactionReceipt({ hash })).status).to.equal("success");
  };
  const expectUnavailable = async (answer: Response) => {
    expect(answer.headers.get("retry-after")).to.match(/^[1-9]\d*$/);
    expect(answer.headers.get("payment-response")).to.equal(null);
    const error = await expectError(answer, "unavailable");
    expect(error.message).not.to.match(/127\.0\.0\.1|ECONN|secret/);
    return error;
  };

  describe("that is not there", () => {
    afterEach(() => world.facilitatorProxy.restart());

    it("503 without a charge, still offers, and accepts the payment when it is back", async () => {
      const url = newUrl();
      const payment = await signFor(payer, url);
      await world.facilitatorProxy.stop();
      expect((await fetch(url)).status).to.equal(402);
      await world.expectPaid(payer, 0, async () => {
        const { message } = await expectUnavailable(await fetchWith(url, payment));
        expect(message).to.contain("Nothing was charged");
      });
      await world.facilitatorProxy.restart();
      await world.expectPaid(payer, 1, async () => expectData(await fetchWith(url, payment)));
      await world.facilitatorProxy.stop();
    });

    it("and goes away between checking and settling: 503 without a charge, another payment is free to follow", async () => {
      const url = newUrl();
      const payment = await signFor(payer, url);
      gateway.solana.answer = async (req, res) => {
        await world.facilitatorProxy.stop();
        answerTable(req, res);
      };
      await world.expectPaid(payer, 0, async () => {
        const { message } = await expectUnavailable(await fetchWith(url, payment));
        expect(message).to.contain("Nothing was charged");
      });
      gateway.solana.answer = answerTable;
      await world.facilitatorProxy.restart();
      await world.expectPaid(payer, 1, async () => expectData(await payer.fetch(url)));
      await world.facilitatorProxy.stop();
    });

    it("is no reason not to start", async () => {
      await world.facilitatorProxy.stop();
      const other = await startPayGateway(world);
      expect((await fetch(other.urlOf())).status).to.equal(402);
      await other.stop();
    });
  });

  describe("that is slow", () => {
    it("in checking: 503 without a charge", async () => {
      const url = newUrl();
      const payment = await signFor(payer, url);
      const publicUrl = "https://pay.example";
      const quick = await startPayGateway(world, { payment: { publicUrl }, config: { deadlineMs: 200 } });
      world.facilitatorProxy.overrides["/verify"] = async () => "never";
      await world.expectPaid(payer, 0, async () => {
        await expectUnavailable(await fetchWith(url.replace(gateway.payUrl, quick.payUrl), payment));
      });
      await quick.stop();
      world.facilitatorProxy.overrides = {};
      await world.expectPaid(payer, 1, async () => expectData(await fetchWith(url, payment)));
    });

    it("in reporting a settlement: the chain shows it, and the client has its data", async () => {
      const url = newUrl();
      world.facilitatorProxy.overrides["/settle"] = async (pass) => {
        await pass();
        return "never";
      };
      await world.expectPaid(payer, 1, async () => expectData(await payer.fetch(hastily(url))));
    });

    it("in settling: 503, then the same payment has its data, charged once", async () => {
      const url = newUrl();
      const payment = await signFor(payer, url);
      world.facilitatorProxy.overrides["/settle"] = async () => "never";
      await world.expectPaid(payer, 0, async () => {
        const { message } = await expectUnavailable(await fetchWith(hastily(url), payment));
        expect(message).to.contain("Nothing is charged twice");
      });
      world.facilitatorProxy.overrides = {};
      await world.expectPaid(payer, 1, async () => expectData(await fetchWith(url, payment)));
      await world.expectPaid(payer, 0, async () => expectData(await fetchWith(url, payment)));
    });

    it("in settling: a client that pays anew has its data for the first payment, charged once", async () => {
      const url = newUrl();
      world.facilitatorProxy.overrides["/settle"] = async () => "never";
      await world.expectPaid(payer, 0, async () => expectUnavailable(await payer.fetch(hastily(url))));
      // Still out of reach: nothing else is charged while the first payment may yet go through.
      await world.expectPaid(payer, 0, async () => expectUnavailable(await payer.fetch(hastily(url))));
      world.facilitatorProxy.overrides = {};
      await world.expectPaid(payer, 1, async () => expectData(await payer.fetch(url)));
      await world.expectPaid(payer, 1, async () => expectData(await payer.fetch(url)));
    });

    it("so that the settlement lands after all have given up: found by the next request", async () => {
      const url = newUrl();
      const payment = await signFor(payer, url);
      let settle: () => Promise<ProxyResponse> = async () => ({ status: 500, body: {} });
      world.facilitatorProxy.overrides["/settle"] = async (pass) => {
        settle = pass;
        return "never";
      };
      await world.expectPaid(payer, 1, async () => {
        await expectUnavailable(await fetchWith(hastily(url), payment));
        await settle();
        world.facilitatorProxy.overrides["/settle"] = async () => ({ status: 200, body: FAILED });
        await expectData(await payer.fetch(url));
      });
      await world.expectPaid(payer, 0, async () => expectData(await fetchWith(url, payment)));
    });

    it("beyond the deadline for services: still returns data", async () => {
      const quick = await startPayGateway(world, { config: { deadlineMs: 1_500 } });
      world.facilitatorProxy.overrides["/settle"] = async (pass) => {
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        return pass();
      };
      const url = quick.urlOf(1_000);
      await world.expectPaid(payer, 1, async () => expectData(await payer.fetch(url)));
      world.facilitatorProxy.overrides["/settle"] = async () => {
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        return { status: 200, body: FAILED };
      };
      const answer = await world.expectPaid(payer, 0, () => payer.fetch(quick.urlOf(1_001)));
      await expectError(answer, "payment_required");
      await quick.stop();
    });
  });

  describe("that lies", () => {
    it("reports a settlement that did not happen: no data, and the outcome is found later", async () => {
      const url = newUrl();
      const payment = await signFor(payer, url);
      const claim = (transaction: string) => async () => ({
        status: 200,
        body: { success: true, transaction },
      });
      const real = await payer.fetch(newUrl());
      const claims = [
        "",
        "0x",
        `0x${"00".repeat(32)}`,
        `0x${"ab".repeat(32)}`,
        receiptOf(real)?.transaction ?? "",
      ];
      for (const transaction of claims) {
        world.facilitatorProxy.overrides["/settle"] = claim(transaction);
        await world.expectPaid(payer, 0, async () =>
          expectUnavailable(await fetchWith(hastily(url), payment)),
        );
      }
      expect(hasty.lines.some(({ msg }) => String(msg).includes("claims a settlement"))).to.equal(true);
      world.facilitatorProxy.overrides = {};
      await world.expectPaid(payer, 1, async () => expectData(await fetchWith(url, payment)));
    });

    it("reports a failure when it has settled: the client has its data", async () => {
      world.facilitatorProxy.overrides["/settle"] = async (pass) => {
        await pass();
        return { status: 200, body: FAILED };
      };
      await world.expectPaid(payer, 1, async () => expectData(await payer.fetch(newUrl())));
    });

    it("reports a failure and settles later: data for the next payment, which is not charged", async () => {
      const url = newUrl();
      let settle: () => Promise<ProxyResponse> = async () => ({ status: 500, body: {} });
      world.facilitatorProxy.overrides["/settle"] = async (pass) => {
        settle = pass;
        return { status: 200, body: FAILED };
      };
      await world.expectPaid(payer, 1, async () => {
        const answer = await payer.fetch(url);
        expect(receiptOf(answer)).to.include({ success: false, transaction: "" });
        await expectError(answer, "payment_required");
        await settle();
        await expectData(await payer.fetch(url));
      });
    });

    it("reports an invalid payment as valid: no data", async () => {
      const poor = await world.createPayer(1n);
      world.facilitatorProxy.overrides["/verify"] = async () => ({ status: 200, body: { isValid: true } });
      const answer = await world.expectPaid(poor, 0, () => poor.fetch(newUrl()));
      await expectError(answer, "payment_required");
    });

    it("reports a valid payment as invalid: 402 without a charge", async () => {
      world.facilitatorProxy.overrides["/verify"] = async () => ({ status: 200, body: { isValid: false } });
      const answer = await world.expectPaid(payer, 0, () => payer.fetch(newUrl()));
      await expectError(answer, "payment_required");
    });

    it("reveals its secrets: they stay in the gateway", async () => {
      const secret = "secret at http://127.0.0.1:9";
      const answers: ProxyResponse[] = [
        { status: 500, body: { error: secret } },
        { status: 200, body: secret },
        { status: 200, body: { isValid: false, success: false, invalidReason: secret, errorReason: secret } },
        { status: 400, body: { isValid: false, success: false, invalidReason: secret, errorReason: secret } },
        { status: 200, body: { isValid: "yes", success: "yes" } },
      ];
      for (const path of ["/verify", "/settle"]) {
        for (const answer of answers) {
          world.facilitatorProxy.overrides = { [path]: async () => answer };
          const url = newUrl();
          await world.expectPaid(payer, 0, async () => {
            const refused = await payer.fetch(hastily(url));
            expect([402, 503]).to.contain(refused.status);
            expect(JSON.stringify([await refused.text(), ...refused.headers])).not.to.contain("secret");
          });
        }
      }
    });
  });

  describe("and a payer who cheats", () => {
    const signCancellation = (from: Payer, nonce: `0x${string}`) =>
      from.account.signTypedData({
        domain: { name: "USD Coin", version: "2", chainId: 8453, verifyingContract: USDC },
        types: {
          CancelAuthorization: [
            { name: "authorizer", type: "address" },
            { name: "nonce", type: "bytes32" },
          ],
        },
        primaryType: "CancelAuthorization",
        message: { authorizer: from.address, nonce },
      });
    const signTransfer = (from: Payer, to: `0x${string}`, nonce: `0x${string}`) => {
      const message = {
        from: from.address,
        to,
        value: 50_000n,
        validAfter: 0n,
        validBefore: 2n ** 40n,
        nonce,
      };
      const field = (type: string) => (name: string) => ({ name, type });
      return from.account.signTypedData({
        domain: { name: "USD Coin", version: "2", chainId: 8453, verifyingContract: USDC },
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
    };
    const sendFrom = async (
      functionName: "cancelAuthorization" | "transferWithAuthorization",
      args: never,
    ) => {
      const { encodeFunctionData } = await import("viem");
      const data = encodeFunctionData({ abi: stablecoinAbi, functionName, args });
      const [from] = await world.chain.anvil.rpc.call<[`0x${string}`]>("eth_accounts");
      await world.chain.anvil.rpc.call("eth_sendTransaction", [{ from, to: USDC, data, gas: "0x30000" }]);
    };

    it("by cancelling the authorization before it is settled has no data", async () => {
      const cheat = await world.createPayer();
      const url = newUrl();
      const payment = await signFor(cheat, url);
      const { nonce } = payment.payload.authorization as { nonce: `0x${string}` };
      gateway.solana.answer = async (req, res) => {
        await sendFrom("cancelAuthorization", [
          cheat.address,
          nonce,
          await signCancellation(cheat, nonce),
        ] as never);
        answerTable(req, res);
      };
      await world.expectPaid(cheat, 0, async () => {
        await expectError(await fetchWith(url, payment), "payment_required");
        gateway.solana.answer = answerTable;
        await expectError(await fetchWith(url, payment), "payment_required");
      });
      await world.expectPaid(cheat, 1, async () => expectData(await cheat.fetch(url)));
    });

    it("by spending the nonce on another transfer has no data, whatever the facilitator reports", async () => {
      const [cheat, friend] = await world.createPayers(2);
      if (!cheat || !friend) throw new Error("no payers");
      const url = newUrl();
      const payment = await signFor(cheat, url);
      const { nonce } = payment.payload.authorization as { nonce: `0x${string}` };
      gateway.solana.answer = async (req, res) => {
        const signature = await signTransfer(cheat, friend.address, nonce);
        await sendFrom("transferWithAuthorization", [
          cheat.address,
          friend.address,
          50_000n,
          0n,
          2n ** 40n,
          nonce,
          signature,
        ] as never);
        answerTable(req, res);
      };
      world.facilitatorProxy.overrides["/settle"] = async (pass) => {
        await pass();
        return { status: 200, body: { success: true, transaction: "" } };
      };
      const before = await world.received();
      await expectError(await fetchWith(url, payment), "payment_required");
      expect(await world.received()).to.equal(before);
      expect(await world.chain.balanceOf(friend.address)).to.equal(1_050_000n);
    });

    it("by moving the money away before it is settled has no data", async () => {
      const cheat = await world.createPayer(60_000n);
      const friend = await world.createPayer(1n);
      const url = newUrl();
      const payment = await signFor(cheat, url);
      const nonce = `0x${"77".repeat(32)}` as const;
      gateway.solana.answer = async (req, res) => {
        const signature = await signTransfer(cheat, friend.address, nonce);
        await sendFrom("transferWithAuthorization", [
          cheat.address,
          friend.address,
          50_000n,
          0n,
          2n ** 40n,
          nonce,
          signature,
        ] as never);
        answerTable(req, res);
      };
      const before = await world.received();
      const answer = await fetchWith(url, payment);
      expect(receiptOf(answer)?.success).to.equal(false);
      const { message } = await expectError(answer, "payment_required");
      expect(message).to.contain("not settled");
      expect(await world.received()).to.equal(before);
    });
  });
});
