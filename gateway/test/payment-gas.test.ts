import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeWithChain } from "../../services/shared/testkit/describe.ts";
import { expectError } from "../testkit/expect-error.ts";
import { createBurningPayer } from "../testkit/payments/contract-wallet.ts";
import { fetchWith, type Payer, receiptOf, signFor } from "../testkit/payments/payer.ts";
import {
  type PayGateway,
  type PaymentEnvironment,
  startPayGateway,
  startPaymentEnvironment,
} from "../testkit/payments/payment-gateway.ts";
import { TABLE_TEXT } from "../testkit/upstream.ts";

/** The default setting. */
const CAP = 300_000;

describeWithChain("gateway: payments and what they may cost the facilitator", () => {
  let world: PaymentEnvironment;
  let gateway: PayGateway;
  let count = 0;
  const newUrl = () => {
    count += 1;
    return gateway.urlOf(count);
  };
  before(async () => {
    world = await startPaymentEnvironment();
    gateway = await startPayGateway(world, { payment: { settleTimeoutMs: 1_500 } });
  });
  after(async () => {
    await gateway?.stop();
    await world?.stop();
  });

  const expectData = async (answer: Response) => {
    expect(answer.status, await answer.clone().text()).to.equal(200);
    expect(await answer.text()).to.equal(TABLE_TEXT);
  };
  /** Gas of the facilitator's transactions while the work is done. */
  const gasOf = async (work: () => Promise<void>): Promise<bigint[]> => {
    const { client } = world.chain;
    const before = await client.getBlockNumber();
    await work();
    const gas: bigint[] = [];
    for (let number = before + 1n; number <= (await client.getBlockNumber()); number += 1n) {
      const { transactions } = await client.getBlock({ blockNumber: number, includeTransactions: true });
      for (const { hash, from } of transactions) {
        if (from.toLowerCase() !== world.facilitatorAddress.toLowerCase()) continue;
        gas.push((await client.getTransactionReceipt({ hash })).gasUsed);
      }
    }
    return gas;
  };

  it("a plain wallet is settled for below its cap", async () => {
    const payer = await world.createPayer();
    const gas = await gasOf(() =>
      world.expectPaid(payer, 1, async () => expectData(await payer.fetch(newUrl()))),
    );
    expect(gas).to.have.length(1);
    expect(Number(gas[0])).to.be.below(150_000);
  });

  it("a contract wallet with a cheap check of signatures pays like any other", async () => {
    const payer = await createBurningPayer(world, { rounds: 10n });
    const gas = await gasOf(() =>
      world.expectPaid(payer, 1, async () => expectData(await payer.fetch(newUrl()))),
    );
    expect(gas).to.have.length(1);
    expect(Number(gas[0])).to.be.below(CAP);
  });

  for (const rounds of [3_000n, 2n ** 64n]) {
    it(`one whose check burns gas for ${rounds} rounds is refused at once with the reason, and costs nothing`, async () => {
      const payer = await createBurningPayer(world, { rounds });
      const gas = await gasOf(async () => {
        const startedMs = performance.now();
        const answer = await world.expectPaid(payer, 0, () => payer.fetch(newUrl()));
        expect(performance.now() - startedMs).to.be.below(5_000);
        const { message } = await expectError(answer, "payment_required");
        expect(message).to.contain("takes more gas than the facilitator pays for");
      });
      expect(gas).to.deep.equal([]);
    });
  }

  it("one that burns in the transaction alone costs its cap once, and is refused with the reason from then on", async () => {
    const payer = await createBurningPayer(world, { rounds: 2n ** 64n, hides: true });
    const gas = await gasOf(async () => {
      await world.expectPaid(payer, 0, async () => {
        const url = newUrl();
        const payment = await signFor(payer, url);
        await expectError(await fetchWith(url, payment), "unavailable");
        for (let again = 0; again < 3; again += 1) {
          const answer = await payer.fetch(again === 0 ? url : newUrl());
          expect([402, 503]).to.contain(answer.status);
          if (again > 0)
            expect((await expectError(answer, "payment_required")).message).to.contain(
              "contract wallet has failed",
            );
        }
      });
    });
    expect(gas).to.have.length(1);
    expect(Number(gas[0])).to.be.at.most(CAP);
  });

  it("contract wallets are refused where their cap is 0, and plain ones below a cap that is too low", async () => {
    const strict = await startPaymentEnvironment({
      facilitator: { FACILITATOR_MAX_GAS_CONTRACT: "0", FACILITATOR_MAX_GAS_EOA: "50000" },
    });
    const own = await startPayGateway(strict);
    const contract = await createBurningPayer(strict, { rounds: 1n });
    const plain = await strict.createPayer();
    const refused = async (payer: Payer) =>
      (
        await expectError(
          await strict.expectPaid(payer, 0, () => payer.fetch(own.urlOf())),
          "payment_required",
        )
      ).message;
    expect(await refused(contract)).to.contain("for plain wallets only");
    expect(await refused(plain)).to.match(/more gas than the facilitator pays for|the transfer would fail/);
    await own.stop();
    await strict.stop();
  });

  it("402 for a validBefore beyond the offered time, by rule and value, before anything is verified", async () => {
    const payer = await world.createPayer();
    const url = newUrl();
    const payment = await signFor(payer, url);
    const verified = world.facilitatorProxy.requests["/verify"] ?? 0;
    const now = Math.floor(Date.now() / 1000);
    for (const validBefore of [now + 300, 99_999_999_999]) {
      const authorization = {
        ...(payment.payload.authorization as object),
        validBefore: String(validBefore),
      };
      const late = { ...payment, payload: { ...payment.payload, authorization } };
      await world.expectPaid(payer, 0, async () => {
        const { message } = await expectError(await fetchWith(url, late), "payment_required");
        expect(message).to.contain(`validBefore is ${validBefore}`).and.contain("120 seconds ahead at most");
        expect(message).to.contain("maxTimeoutSeconds 60");
      });
    }
    expect(world.facilitatorProxy.requests["/verify"] ?? 0).to.equal(verified);
    const answer = await world.expectPaid(payer, 1, () => fetchWith(url, payment));
    expect(receiptOf(answer)?.success).to.equal(true);
  });
});
