import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import { appendPaymentIdentifierToExtensions, generatePaymentId } from "@x402/extensions/payment-identifier";
import { expect } from "chai";
import { after, afterEach, before, describe, it } from "mocha";
import { describeWithChain } from "../../services/shared/testkit/describe.ts";
import { expectError } from "../testkit/expect-error.ts";
import { fetchWith, type Payer, receiptOf, signFor } from "../testkit/payments/payer.ts";
import {
  PAID_PATH,
  type PayGateway,
  type PaymentEnvironment,
  PRICE,
  startPayGateway,
  startPaymentEnvironment,
} from "../testkit/payments/payment-gateway.ts";
import { until } from "../testkit/until.ts";
import { answerError, answerTable, answerTableOf, TABLE_TEXT } from "../testkit/upstream.ts";

describeWithChain("gateway: payments that come again, and answers that do not come well", () => {
  let world: PaymentEnvironment;
  let gateway: PayGateway;
  /** Each test buys something of its own, so that none finds what another has left. */
  let count = 0;
  const newUrl = () => {
    count += 1;
    return gateway.urlOf(count);
  };
  before(async () => {
    world = await startPaymentEnvironment({ ownProcess: true });
    gateway = await startPayGateway(world);
  });
  afterEach(() => {
    gateway.solana.answer = answerTable;
  });
  after(async () => {
    await gateway?.stop();
    await world?.stop();
  });

  describe("a payment that comes again", () => {
    it("gets its response again, is not charged again, and sends no second request to the service", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      const payment = await signFor(payer, url);
      const requestsBefore = gateway.solana.seen.length;
      const first = await world.expectPaid(payer, 1, () => fetchWith(url, payment));
      gateway.solana.answer = answerError(500, "internal");
      for (let again = 0; again < 3; again += 1) {
        const answer = await world.expectPaid(payer, 0, () => fetchWith(url, payment));
        expect(answer.status).to.equal(200);
        expect(await answer.text()).to.equal(TABLE_TEXT);
        expect(receiptOf(answer)).to.deep.equal(receiptOf(first));
        for (const name of ["content-type", "etag", "x-data-block", "cache-control"])
          expect(answer.headers.get(name), name).to.equal(first.headers.get(name));
        expect(answer.headers.get("x-session-id")).not.to.equal(first.headers.get("x-session-id"));
      }
      expect(gateway.solana.seen).to.have.length(requestsBefore + 1);
    });

    it("is refused for anything else", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      const other = newUrl();
      const payment = await signFor(payer, url);
      await world.expectPaid(payer, 1, () => fetchWith(url, payment));
      await world.expectPaid(payer, 0, async () => {
        await expectError(await fetchWith(other, payment), "payment_required");
        const renamed = { ...payment, resource: { url: other } };
        const { message } = await expectError(await fetchWith(other, renamed), "payment_required");
        expect(message).to.contain("used for another request");
      });
    });

    it("ten times at once is charged once and answered ten times", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      const payment = await signFor(payer, url);
      const requestsBefore = gateway.solana.seen.length;
      const answers = await world.expectPaid(payer, 1, () =>
        Promise.all(Array.from({ length: 10 }, () => fetchWith(url, payment))),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
      expect(new Set(answers.map((answer) => receiptOf(answer)?.transaction)).size).to.equal(1);
      expect(gateway.solana.seen).to.have.length(requestsBefore + 1);
    });
  });

  describe("when the service does not answer well", () => {
    it("passes its errors on and charges nothing; the payment stays good", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      const payment = await signFor(payer, url);
      for (const [status, code] of [
        [400, "bad_request"],
        [404, "not_found"],
        [408, "request_timeout"],
        [500, "internal"],
        [503, "unavailable"],
      ] as const) {
        gateway.solana.answer = answerError(status, code);
        const answer = await world.expectPaid(payer, 0, () => fetchWith(url, payment));
        expect(answer.headers.get("payment-response")).to.equal(null);
        await expectError(answer, code);
      }
      gateway.solana.answer = (_req, res) =>
        void res.writeHead(502, { "Content-Type": "text/html" }).end("<h1>");
      await world.expectPaid(payer, 0, async () => expectError(await fetchWith(url, payment), "unavailable"));
      gateway.solana.answer = (_req, res) => {
        res.writeHead(200, { "Content-Type": "application/json", "Content-Length": "1000" });
        res.write("{");
        setTimeout(() => res.destroy(), 5);
      };
      await world.expectPaid(payer, 0, async () => expectError(await fetchWith(url, payment), "unavailable"));
      gateway.solana.answer = answerTable;
      const answer = await world.expectPaid(payer, 1, () => fetchWith(url, payment));
      expect(answer.status).to.equal(200);
    });

    it("charges nothing for a client that has left", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      const payment = await signFor(payer, url);
      const requestsBefore = gateway.solana.seen.length;
      let release = () => {};
      gateway.solana.answer = (req, res) => {
        release = () => answerTable(req, res);
      };
      const client = new AbortController();
      await world.expectPaid(payer, 0, async () => {
        const gone = fetchWith(url, payment, { signal: client.signal }).catch(() => "gone");
        await until(() => gateway.solana.seen.length > requestsBefore);
        client.abort();
        expect(await gone).to.equal("gone");
        await until(() =>
          gateway.lines.some(({ payment: outcome, status }) => outcome === "unsettled" && status === 499),
        );
        release();
      });
      gateway.solana.answer = answerTable;
      await world.expectPaid(payer, 1, () => fetchWith(url, payment));
    });

    it("nor for one that has left while its connection was held for an answer before that", async () => {
      const [first, second] = [await world.createPayer(), await world.createPayer()];
      const [firstUrl, secondUrl] = [newUrl(), newUrl()];
      const request = async (payer: Payer, url: string) => {
        const { host, pathname, search } = new URL(url);
        const header = encodePaymentSignatureHeader(await signFor(payer, url));
        return `GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nPAYMENT-SIGNATURE: ${header}\r\n\r\n`;
      };
      const [firstText, secondText] = [await request(first, firstUrl), await request(second, secondUrl)];
      const client = connect({
        port: Number(new URL(firstUrl).port),
        host: "127.0.0.1",
        allowHalfOpen: true,
      });
      client.on("error", () => {}).pause();
      // More than the client's kernel takes, so that it is not acknowledged; not more than the gateway's.
      gateway.solana.answer = answerTableOf(400 * 1_024);
      await world.expectPaid(first, 1, async () => {
        client.write(firstText);
        await until(async () => (await world.chain.balanceOf(first.address)) < 1_000_000n);
      });
      const requestsBefore = gateway.solana.seen.length;
      let release = () => {};
      gateway.solana.answer = (req, res) => {
        release = () => answerTable(req, res);
      };
      await world.expectPaid(second, 0, async () => {
        client.write(secondText);
        await until(() => gateway.solana.seen.length > requestsBefore);
        await new Promise<void>((resolve) => client.end(resolve));
        await sleep(100);
        release();
        await sleep(1_000);
        client.resetAndDestroy();
      });
      gateway.solana.answer = answerTable;
      await world.expectPaid(second, 1, () => second.fetch(secondUrl));
    });

    it("never sends the client's If-None-Match to the service", async () => {
      const payer = await world.createPayer();
      gateway.solana.answer = (req, res) => {
        expect(req.headers["if-none-match"]).to.equal(undefined);
        answerTable(req, res);
      };
      const init = { headers: { "If-None-Match": 'W/"v7"' } };
      const answer = await world.expectPaid(payer, 1, () => payer.fetch(newUrl(), init));
      expect(answer.status).to.equal(200);
    });
  });

  describe("a client that leaves while its payment is being settled", () => {
    const leaveWhileSettling = async (payer: Payer, url: string) => {
      const payment = await signFor(payer, url);
      const client = new AbortController();
      world.facilitatorProxy.overrides["/settle"] = async (pass) => {
        const real = await pass();
        client.abort();
        await new Promise((resolve) => setTimeout(resolve, 50));
        return real;
      };
      await world.expectPaid(payer, 1, async () => {
        const gone = await fetchWith(url, payment, { signal: client.signal }).catch(() => "gone");
        expect(gone).to.equal("gone");
      });
      world.facilitatorProxy.overrides = {};
      return payment;
    };

    it("gets what it has paid for with the same payment", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      const payment = await leaveWhileSettling(payer, url);
      const answer = await world.expectPaid(payer, 0, () => fetchWith(url, payment));
      expect(answer.status).to.equal(200);
      await world.expectPaid(payer, 1, () => payer.fetch(url));
    });

    it("gets it with a new payment, which is not charged; the next one is", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      await leaveWhileSettling(payer, url);
      const answer = await world.expectPaid(payer, 0, () => payer.fetch(url));
      expect(answer.status).to.equal(200);
      expect(receiptOf(answer)?.success).to.equal(true);
      await world.expectPaid(payer, 1, () => payer.fetch(url));
      // No other payer gets what one has paid for.
      const stranger = await world.createPayer();
      await leaveWhileSettling(payer, url);
      await world.expectPaid(stranger, 1, () => stranger.fetch(url));
    });
  });

  describe("a payment-identifier", () => {
    const signWith = async (payer: Payer, url: string, id: string) => {
      const payment = await signFor(payer, url);
      const extensions = structuredClone(payment.extensions ?? {});
      appendPaymentIdentifierToExtensions(extensions, id);
      return { ...payment, extensions };
    };

    it("makes another payment for the same request the same one", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      const id = generatePaymentId();
      const [first, second] = [await signWith(payer, url, id), await signWith(payer, url, id)];
      const paid = await world.expectPaid(payer, 1, () => fetchWith(url, first));
      const again = await world.expectPaid(payer, 0, () => fetchWith(url, second));
      expect(again.status).to.equal(200);
      expect(receiptOf(again)).to.deep.equal(receiptOf(paid));
    });

    it("also where both come at once", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      const id = generatePaymentId();
      const payments = await Promise.all(Array.from({ length: 5 }, () => signWith(payer, url, id)));
      const answers = await world.expectPaid(payer, 1, () =>
        Promise.all(payments.map((payment) => fetchWith(url, payment))),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 200]);
    });

    it("is of one payer and one request", async () => {
      const [payer, other] = await world.createPayers(2);
      if (!payer || !other) throw new Error("no payers");
      const [url, otherUrl] = [newUrl(), newUrl()];
      const id = generatePaymentId();
      const payment = await signWith(payer, url, id);
      await world.expectPaid(payer, 1, () => fetchWith(url, payment));
      const reused = await signWith(payer, otherUrl, id);
      await world.expectPaid(payer, 0, async () => {
        const { message } = await expectError(await fetchWith(otherUrl, reused), "bad_request");
        expect(message).to.contain("payment-identifier");
      });
      const ofOther = await signWith(other, otherUrl, id);
      await world.expectPaid(other, 1, () => fetchWith(otherUrl, ofOther));
    });
  });

  describe("and of all that", () => {
    it("counts what becomes of requests, logs receipts, and never a payment", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      const payment = await signFor(payer, url);
      const answer = await fetchWith(url, payment);
      const { transaction } = receiptOf(answer) ?? {};
      const line = gateway.lines.find((entry) => entry.transaction === transaction);
      expect(line).to.include({ msg: "payment settled", route: PAID_PATH, amount: String(PRICE) });
      expect(line?.payer).to.equal(payer.address.toLowerCase());
      const metrics = await gateway.metrics();
      for (const outcome of ["offered", "settled", "repeated", "identified", "owed", "refused", "unsettled"])
        expect(metrics).to.match(
          new RegExp(`gateway_payments_total\\{[^}]*outcome="${outcome}"[^}]*\\} [1-9]`),
        );
      const { signature } = payment.payload as { signature: string };
      const logged = JSON.stringify(gateway.lines);
      expect(logged).not.to.contain(signature.slice(2, 40));
      expect(logged).not.to.contain(encodePaymentSignatureHeader(payment).slice(0, 40));
    });
  });
});
