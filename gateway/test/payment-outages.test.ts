import { expect } from "chai";
import { after, afterEach, before, describe, it } from "mocha";
import { describeWithChain } from "../../services/shared/testkit/describe.ts";
import { createPaymentChain } from "../payments/settlement/chain.ts";
import { expectError } from "../testkit/expect-error.ts";
import { type Payer, receiptOf } from "../testkit/payments/payer.ts";
import {
  type PayGateway,
  type PaymentEnvironment,
  startPayGateway,
  startPaymentEnvironment,
} from "../testkit/payments/payment-gateway.ts";
import { until } from "../testkit/until.ts";
import { answerTable, TABLE_TEXT } from "../testkit/upstream.ts";

describeWithChain("gateway: payments and what they rest on", () => {
  let world: PaymentEnvironment;
  let gateway: PayGateway;
  let payer: Payer;
  before(async () => {
    world = await startPaymentEnvironment();
    payer = await world.createPayer(10_000_000n);
    gateway = await startPayGateway(world, { payment: { settleTimeoutMs: 400 } });
  });
  afterEach(async () => {
    world.facilitatorProxy.overrides = {};
    gateway.solana.answer = answerTable;
  });
  after(async () => {
    await gateway?.stop();
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

  describe("besides the facilitator", () => {
    it("the chain cannot be reached: 503 without a charge", async () => {
      const options = { totalMs: 200 };
      const chain = createPaymentChain({ chainId: 8453, urls: ["http://127.0.0.1:9"], options });
      const blind = await startPayGateway(world, { parts: { chain } });
      await world.expectPaid(payer, 0, async () => expectUnavailable(await payer.fetch(blind.urlOf(2_000))));
      await blind.stop();
    });

    it("the store cannot be reached: 503 without a charge; when it is back, payments are taken", async () => {
      const { openStoredLedger } = await import("../payments/ledger/open-ledger.ts");
      const { systemClock: clock } = await import("../request/clock.ts");
      let isAway = true;
      const other = await startPayGateway(world, {
        parts: {
          openLedger: async () => {
            if (isAway) throw new Error("secret: no store at mongodb://127.0.0.1");
            return openStoredLedger({ dataDir: world.folder }, { clock, answersKeptMs: 60_000 });
          },
        },
      });
      const url = other.urlOf(2_001);
      await world.expectPaid(payer, 0, async () => expectUnavailable(await payer.fetch(url)));
      isAway = false;
      await world.expectPaid(payer, 1, async () => expectData(await payer.fetch(url)));
      await other.stop();
    });

    it("blocks take their time: the client waits, and has its data when its payment is in one", async () => {
      const patient = await startPayGateway(world);
      await world.chain.setMining(false);
      const url = patient.urlOf(2_002);
      await world.expectPaid(payer, 1, async () => {
        let isAnswered = false;
        const response = payer.fetch(url).finally(() => {
          isAnswered = true;
        });
        const settlesBefore = world.facilitatorProxy.requests["/settle"] ?? 0;
        await until(() => (world.facilitatorProxy.requests["/settle"] ?? 0) > settlesBefore);
        await until(async () => {
          const pool = await world.chain.anvil.rpc.call<{ pending: `0x${string}` }>("txpool_status");
          return Number(pool.pending) > 0;
        });
        expect(isAnswered).to.equal(false);
        await world.chain.mine();
        await expectData(await response);
      });
      await world.chain.setMining(true);
      await patient.stop();
    });
  });
});
