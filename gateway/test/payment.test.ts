import { decodePaymentRequiredHeader } from "@x402/core/http";
import type { PaymentPayload } from "@x402/core/types";
import { validateDiscoveryExtension, validateDiscoveryExtensionSpec } from "@x402/extensions/bazaar";
import { isPaymentIdentifierExtension, validatePaymentIdentifier } from "@x402/extensions/payment-identifier";
import { expect } from "chai";
import { after, afterEach, before, describe, it } from "mocha";
import { describeWithChain, itThorough } from "../../services/shared/testkit/describe.ts";
import { expectError } from "../testkit/expect-error.ts";
import { fetchWith, type Payer, readOffer, receiptOf, signFor } from "../testkit/payments/payer.ts";
import {
  PAID_PATH,
  PAID_QUERY,
  type PayGateway,
  type PaymentEnvironment,
  PRICE,
  startPayGateway,
  startPaymentEnvironment,
} from "../testkit/payments/payment-gateway.ts";
import { rawGet, sendRaw } from "../testkit/raw-http.ts";
import { answerTable, TABLE_TEXT } from "../testkit/upstream.ts";

describeWithChain("gateway: payments", () => {
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

  describe("an unmodified client", () => {
    it("pays 0.05 USDC for each request and gets its rows and a receipt of the chain", async () => {
      const payer = await world.createPayer();
      for (const path of [PAID_PATH, `${PAID_PATH}-time-bounded`]) {
        const query = `token_address=So11111111111111111111111111111111111111112&days=1&after_time=1&before_time=2`;
        const answer = await world.expectPaid(payer, 1, () =>
          payer.fetch(`${gateway.payUrl}${path}?${query}`),
        );
        expect(answer.status).to.equal(200);
        expect(await answer.text()).to.equal(TABLE_TEXT);
        expect(answer.headers.get("x-data-block")).to.equal("7");
        expect(answer.headers.get("cache-control")).to.equal("private, max-age=1");
        expect(gateway.solana.seen.at(-1)?.url).to.equal(`${path}?${query}`);
        const receipt = receiptOf(answer);
        expect(receipt).to.include({ success: true, network: "eip155:8453", amount: String(PRICE) });
        expect(receipt?.payer?.toLowerCase()).to.equal(payer.address.toLowerCase());
        const hash = receipt?.transaction as `0x${string}`;
        expect((await world.chain.client.getTransactionReceipt({ hash })).status).to.equal("success");
      }
    });

    itThorough("fifty of them at once pay once each", async () => {
      const payers = await world.createPayers(50);
      const url = newUrl();
      const before = await world.received();
      const answers = await Promise.all(payers.map((payer) => payer.fetch(url)));
      expect(answers.map(({ status }) => status)).to.deep.equal(payers.map(() => 200));
      expect(new Set(answers.map((answer) => receiptOf(answer)?.transaction)).size).to.equal(50);
      expect((await world.received()) - before).to.equal(50n * PRICE);
      const left = await Promise.all(payers.map(({ address }) => world.chain.balanceOf(address)));
      expect(new Set(left)).to.deep.equal(new Set([1_000_000n - PRICE]));
    });

    it("may request the same thing many times at once, and pays each time", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      const answers = await world.expectPaid(payer, 8, () =>
        Promise.all(Array.from({ length: 8 }, () => payer.fetch(url))),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
    });

    it("without enough money gets 402 with the reason", async () => {
      const payer = await world.createPayer(PRICE - 1n);
      const answer = await world.expectPaid(payer, 0, () => payer.fetch(newUrl()));
      const { message } = await expectError(answer, "payment_required");
      expect(message).to.contain("holds less than the price");
    });
  });

  describe("without a payment", () => {
    it("402: body and header state amount, resource and recipient", async () => {
      const url = newUrl();
      const answer = await fetch(url, { headers: { "X-API-KEY": "any" } });
      const offer = decodePaymentRequiredHeader(answer.headers.get("payment-required") ?? "");
      expect(answer.headers.get("cache-control")).to.equal("no-store");
      expect(answer.headers.get("access-control-expose-headers")).to.contain("PAYMENT-REQUIRED");
      const {
        error: _code,
        message,
        session: _session,
        ...details
      } = await expectError(answer, "payment_required");
      expect({ ...details, error: message }).to.deep.equal(offer);
      expect(offer.x402Version).to.equal(2);
      expect(offer.resource.url).to.equal(url);
      expect(offer.accepts).to.deep.equal([
        {
          scheme: "exact",
          network: "eip155:8453",
          amount: "50000",
          asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
          payTo: world.payTo,
          maxTimeoutSeconds: 60,
          extra: { name: "USD Coin", version: "2" },
        },
      ]);
    });

    it("the metadata for discovery and identifiers are what the published validators accept", async () => {
      const { extensions = {} } = await readOffer(newUrl());
      const bazaar = extensions.bazaar as Parameters<typeof validateDiscoveryExtension>[0];
      expect(validateDiscoveryExtension(bazaar)).to.deep.equal({ valid: true });
      expect(validateDiscoveryExtensionSpec(bazaar as never)).to.deep.equal({ valid: true });
      expect(isPaymentIdentifierExtension(extensions["payment-identifier"])).to.equal(true);
      expect(validatePaymentIdentifier(extensions["payment-identifier"]).valid).to.equal(true);
    });

    it("400 for invalid parameters, before any payment is requested", async () => {
      const requestsBefore = gateway.solana.seen.length;
      for (const query of ["", "token_address=x&days=1", `${PAID_QUERY}&limit=0`, `${PAID_QUERY}&days=2`]) {
        const answer = await fetch(`${gateway.payUrl}${PAID_PATH}?${query}`);
        expect(answer.headers.get("payment-required")).to.equal(null);
        await expectError(answer, "bad_request");
      }
      const payer = await world.createPayer();
      const payment = await signFor(payer, newUrl());
      await world.expectPaid(payer, 0, async () => {
        const answer = await fetchWith(`${gateway.payUrl}${PAID_PATH}?days=1`, payment);
        await expectError(answer, "bad_request");
      });
      expect(gateway.solana.seen).to.have.length(requestsBefore);
    });

    it("404 for everything that is not for sale, and for every method but GET", async () => {
      const others = [
        "/",
        "/docs",
        "/metrics",
        "/livez",
        "/evm/chains",
        "/api/v1/solana/tokens",
        `${PAID_PATH}/`,
      ];
      for (const path of others) {
        const answer = await fetch(`${gateway.payUrl}${path}?${PAID_QUERY}`, { redirect: "manual" });
        expect((await expectError(answer, "not_found")).message).to.contain(PAID_PATH);
      }
      for (const method of ["POST", "PUT", "DELETE", "TRACE"]) {
        const answer = await sendRaw(
          gateway.payUrl,
          `${method} ${PAID_PATH}?${PAID_QUERY} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
        );
        expect(answer.status, method).to.equal(404);
      }
      expect((await fetch(newUrl(), { method: "HEAD" })).status).to.equal(404);
    });

    it("lets pages of any origin pay", async () => {
      const answer = await fetch(newUrl(), { method: "OPTIONS" });
      expect(answer.status).to.equal(204);
      expect(answer.headers.get("access-control-allow-methods")).to.equal("GET, OPTIONS");
      expect(answer.headers.get("access-control-allow-headers")).to.contain("PAYMENT-SIGNATURE");
    });

    it("the address that is paid for never comes from the request", async () => {
      const path = `${PAID_PATH}?${PAID_QUERY}`;
      for (const headers of [
        { Host: "evil.example" },
        { Host: "evil.example", "X-Forwarded-Host": "evil.example", Forwarded: "host=evil.example" },
      ]) {
        const answer = await rawGet(gateway.payUrl, path, headers);
        const offer = decodePaymentRequiredHeader(answer.headers["payment-required"] ?? "");
        expect(offer.resource.url).to.equal(`${gateway.payUrl}${path}`);
      }
      const absolute = await rawGet(gateway.payUrl, `http://evil.example${path}`);
      const offer = decodePaymentRequiredHeader(absolute.headers["payment-required"] ?? "");
      expect(offer.resource.url).to.equal(`${gateway.payUrl}${path}`);
    });
  });

  describe("a payment that is not good", () => {
    let payer: Payer;
    let url: string;
    let payment: PaymentPayload;
    before(async () => {
      payer = await world.createPayer();
      url = newUrl();
      payment = await signFor(payer, url);
    });
    const expectRefused = async (sent: PaymentPayload, code: "payment_required" | "bad_request") => {
      const requestsBefore = gateway.solana.seen.length;
      const answer = await world.expectPaid(payer, 0, () => fetchWith(url, sent));
      expect(gateway.solana.seen).to.have.length(requestsBefore);
      expect(answer.headers.get("payment-response")).to.equal(null);
      expect(answer.headers.has("payment-required")).to.equal(code === "payment_required");
      return (await expectError(answer, code)).message;
    };
    const authorizationOf = ({ payload }: PaymentPayload) => payload.authorization as Record<string, string>;
    const withAuthorization = (changes: Record<string, string>): PaymentPayload => ({
      ...payment,
      payload: { ...payment.payload, authorization: { ...authorizationOf(payment), ...changes } },
    });

    it("400 for a header of another form", async () => {
      const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
      const { accepted, resource, payload } = payment;
      const headers = {
        "no base64": "%%%",
        empty: "",
        "no JSON": Buffer.from("{").toString("base64"),
        null: encode(null),
        list: encode([payment]),
        "version 1": encode({ x402Version: 1, scheme: "exact", network: "base", payload }),
        "version 3": encode({ ...payment, x402Version: 3 }),
        "no terms": encode({ x402Version: 2, resource, payload }),
        "no payload": encode({ x402Version: 2, resource, accepted }),
        "no authorization": encode({ ...payment, payload: { signature: payload.signature } }),
        "no signature": encode({ ...payment, payload: { authorization: payload.authorization } }),
        "a short signature": encode({ ...payment, payload: { ...payload, signature: "0x00" } }),
        permit2: encode({ ...payment, payload: { signature: payload.signature, permit2Authorization: {} } }),
        "an invalid address": encode(withAuthorization({ from: "0x1" })),
        "a negative amount": encode(withAuthorization({ value: "-1" })),
        "an amount in hex": encode(withAuthorization({ value: "0x10" })),
        "a short nonce": encode(withAuthorization({ nonce: "0x01" })),
        "an identifier of another form": encode({
          ...payment,
          extensions: { "payment-identifier": { info: { required: false, id: "short" } } },
        }),
      };
      for (const [what, header] of Object.entries(headers)) {
        const answer = await fetch(url, { headers: { "PAYMENT-SIGNATURE": header } });
        const { message } = await expectError(answer, "bad_request");
        expect(message, what).to.contain("PAYMENT-SIGNATURE");
      }
      const twice = await rawGet(url, new URL(url).pathname + new URL(url).search, {
        "PAYMENT-SIGNATURE": encode(payment),
        "Payment-signature": encode(payment),
      });
      expect(twice.status).to.equal(400);
    });

    it("402 for terms other than those offered", async () => {
      const { accepted } = payment;
      const others: Record<string, Partial<PaymentPayload["accepted"]>> = {
        network: { network: "eip155:84532" },
        amount: { amount: "49999" },
        more: { amount: "50001" },
        asset: { asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e" },
        payTo: { payTo: payer.address },
        scheme: { scheme: "upto" },
        timeout: { maxTimeoutSeconds: 3600 },
        extra: { extra: { name: "USDC", version: "2" } },
      };
      for (const [what, changes] of Object.entries(others)) {
        const message = await expectRefused(
          { ...payment, accepted: { ...accepted, ...changes } },
          "payment_required",
        );
        expect(message, what).to.contain("its terms are not those of this offer");
      }
    });

    it("402 for another address, whatever it contains", async () => {
      for (const other of [
        url.replace("offset", "limit"),
        `${url}&limit=5`,
        url.replace(gateway.payUrl, "http://evil.example"),
        `${url}#`,
        `${gateway.payUrl}/evm/chains`,
      ]) {
        const message = await expectRefused({ ...payment, resource: { url: other } }, "payment_required");
        expect(message).to.contain("another resource");
      }
      const { resource: _none, ...rest } = payment;
      await expectRefused(rest, "payment_required");
    });

    it("402 for an authorization that was altered, expired, not valid yet, or of another account", async () => {
      const [stranger] = await world.createPayers(1);
      const nowS = Math.floor(Date.now() / 1000);
      const altered: Record<string, Record<string, string>> = {
        "for another recipient": { to: payer.address },
        "over less": { value: "49999" },
        "over more": { value: "50001" },
        "of another payer": { from: stranger?.address ?? "" },
        "with another nonce": { nonce: `0x${"11".repeat(32)}` },
        "made to last": { validBefore: String(nowS + 3600) },
        expired: { validBefore: String(nowS - 1) },
        "of the future": { validAfter: String(nowS + 1000) },
      };
      for (const changes of Object.values(altered)) {
        await expectRefused(withAuthorization(changes), "payment_required");
      }
      const { signature } = payment.payload as { signature: string };
      const flipped = `${signature.slice(0, 10)}${signature[10] === "0" ? "1" : "0"}${signature.slice(11)}`;
      const message = await expectRefused(
        { ...payment, payload: { ...payment.payload, signature: flipped } },
        "payment_required",
      );
      expect(message).to.contain("signature does not match");
    });

    it("402 for one that its payer has signed to expire", async () => {
      const offer = await readOffer(url);
      const [accepted] = offer.accepts;
      if (!accepted) throw new Error("nothing is offered");
      const short = await payer.sign({ ...offer, accepts: [{ ...accepted, maxTimeoutSeconds: 1 }] });
      await new Promise((resolve) => setTimeout(resolve, 1_100));
      await expectRefused({ ...short, accepted }, "payment_required");
    });

    it("and the payment itself is good after all that", async () => {
      const answer = await world.expectPaid(payer, 1, () => fetchWith(url, payment));
      expect(answer.status).to.equal(200);
    });
  });
});
