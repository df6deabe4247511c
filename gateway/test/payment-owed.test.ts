import { connect } from "node:net";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import { expect } from "chai";
import { after, afterEach, before, describe, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { expectError } from "../testkit/expect-error.ts";
import { BOOTSTRAP_KEY } from "../testkit/gateway.ts";
import { createBurningPayer } from "../testkit/payments/contract-wallet.ts";
import { type Cut, readPartially } from "../testkit/payments/cutting-client.ts";
import { fetchWith, type Payer, signFor } from "../testkit/payments/payer.ts";
import {
  type PayGateway,
  type PaymentEnvironment,
  PRICE,
  startPayGateway,
  startPaymentEnvironment,
} from "../testkit/payments/payment-gateway.ts";
import { until } from "../testkit/until.ts";
import { answerTable, answerTableOf, TABLE_TEXT } from "../testkit/upstream.ts";

const KB = 1_024;

describeThorough("gateway: paid answers that do not arrive", () => {
  let world: PaymentEnvironment;
  let gateway: PayGateway;
  let count = 0;
  const newUrl = () => {
    count += 1;
    return gateway.urlOf(count);
  };
  before(async () => {
    world = await startPaymentEnvironment();
    gateway = await startPayGateway(world);
  });
  afterEach(() => {
    world.facilitatorProxy.overrides = {};
    gateway.solana.answer = answerTable;
  });
  after(async () => {
    await gateway?.stop();
    await world?.stop();
  });

  /** Pays for a table of so many bytes, and takes a part of the answer. */
  const payAndCut = async (payer: Payer, url: string, cut: Cut) => {
    const payment = await signFor(payer, url);
    return readPartially(url, {
      headers: { "PAYMENT-SIGNATURE": encodePaymentSignatureHeader(payment) },
      cut,
    });
  };
  const expectWhole = async (answer: Response, size: number) => {
    expect(answer.status).to.equal(200);
    expect((await answer.arrayBuffer()).byteLength).to.equal(size);
  };

  describe("because their connection breaks", () => {
    for (const size of [1 * KB, 225 * KB, 13_700 * KB]) {
      for (const how of ["reset", "close"] as const) {
        it(`after a third of ${size} bytes (${how}): the next payment is free, the one after it is charged`, async () => {
          const payer = await world.createPayer();
          const url = newUrl();
          gateway.solana.answer = answerTableOf(size);
          await world.expectPaid(payer, 1, async () => {
            const { isWhole } = await payAndCut(payer, url, { afterBytes: Math.floor(size / 3), how });
            expect(isWhole).to.equal(false);
            await expectWhole(await payer.fetch(url), size);
          });
          await world.expectPaid(payer, 1, async () => expectWhole(await payer.fetch(url), size));
        });
      }
    }

    it("is 499 in the log where the gateway can see it, for requests with a key too", async () => {
      gateway.solana.answer = answerTableOf(13_700 * KB);
      const payer = await world.createPayer();
      const cut = { afterBytes: 64 * KB, how: "reset" } as const;
      const statuses = () => gateway.lines.filter(({ msg }) => msg === "request").map(({ status }) => status);
      const before = statuses().length;
      await payAndCut(payer, newUrl(), cut);
      await until(() => statuses().length >= before + 2);
      expect(statuses().slice(before)).to.deep.equal([402, 499]);
      const target = new URL(newUrl().replace(gateway.payUrl, gateway.url)).href;
      await readPartially(target, { headers: { "X-API-KEY": BOOTSTRAP_KEY }, cut });
      await until(() => statuses().length >= before + 3);
      expect(statuses().at(-1)).to.equal(499);
    });

    it("is no reason to be free where the client has ended its side and reads to the end", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      gateway.solana.answer = answerTableOf(13_700 * KB);
      const { isWhole } = await payAndCut(payer, url, { afterBytes: 64 * KB, how: "half-close" });
      // Deno ends a connection whose client has ended its side, so that the answer is cut, and owed.
      expect(isWhole).to.equal(!("Deno" in globalThis));
      const payments = isWhole ? 1 : 0;
      await world.expectPaid(payer, payments, async () => expectWhole(await payer.fetch(url), 13_700 * KB));
    });

    it("nor where a whole answer has been read and its connection is used again or ended", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      for (let time = 0; time < 3; time += 1)
        await world.expectPaid(payer, 1, async () => expectWhole(await payer.fetch(url), TABLE_TEXT.length));
      const { isWhole } = await payAndCut(payer, url, { afterBytes: Number.POSITIVE_INFINITY, how: "close" });
      expect(isWhole).to.equal(true);
      await world.expectPaid(payer, 1, async () => expectWhole(await payer.fetch(url), TABLE_TEXT.length));
    });

    it("keeps the response for a client that reads nothing for a while, and makes the next payment free", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      const size = 2_000 * KB;
      gateway.solana.answer = answerTableOf(size);
      const cut = { afterBytes: 10 * KB, how: "pause", pauseMs: 6_000 } as const;
      const paused = payAndCut(payer, url, cut);
      await until(async () => (await world.chain.balanceOf(payer.address)) < 1_000_000n);
      await world.expectPaid(payer, 0, async () => expectWhole(await payer.fetch(url), size));
      expect((await paused).isWhole).to.equal(true);
    });

    it("is no reason to be free where the client was slow, and asks again as soon as it has read everything", async () => {
      const payer = await world.createPayer();
      const url = newUrl();
      const size = 13_700 * KB;
      gateway.solana.answer = answerTableOf(size);
      // Longer than requests with the same payment wait for its outcome.
      const { isWhole } = await payAndCut(payer, url, { afterBytes: 10 * KB, how: "pause", pauseMs: 6_000 });
      expect(isWhole).to.equal(true);
      await world.expectPaid(payer, 1, async () => expectWhole(await payer.fetch(url), size));
    });
  });

  it("but do where a slow client that has read everything resets its next request once that is answered", async () => {
    const payer = await world.createPayer();
    const url = newUrl();
    const size = 2_000 * KB;
    gateway.solana.answer = answerTableOf(size);
    const { host, port, pathname, search } = new URL(url);
    const header = encodePaymentSignatureHeader(await signFor(payer, url));
    const start = `GET ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\n`;
    const client = connect({ port: Number(port), host: "127.0.0.1" });
    await new Promise<void>((resolve) => {
      let head = "";
      let left = Number.NaN;
      client.on("error", () => {}).on("close", () => resolve());
      client.on("data", (chunk) => {
        // A byte of the next answer.
        if (left === 0) return client.resetAndDestroy();
        if (Number.isNaN(left)) {
          head += chunk.toString("latin1");
          const end = head.indexOf("\r\n\r\n");
          if (end === -1) return;
          left =
            end + 4 + Number(/content-length: (\d+)/i.exec(head)?.[1]) - Buffer.byteLength(head, "latin1");
          client.pause();
          // By then the gateway looks at the connection four times a second.
          setTimeout(() => client.resume(), 900);
        } else left -= chunk.length;
        if (left === 0) client.write(`${start}\r\n`);
      });
      client.write(`${start}PAYMENT-SIGNATURE: ${header}\r\n\r\n`);
    });
    await world.expectPaid(payer, 1, async () => expectWhole(await payer.fetch(url), size));
  });

  it("are requested again a few times once they are no longer stored, and not for ever", async () => {
    const forgetful = await startPayGateway(world, { payment: { answersKeptMs: 1 } });
    try {
      const payer = await world.createPayer();
      const url = forgetful.urlOf(1);
      const cut = { afterBytes: Number.POSITIVE_INFINITY, how: "reset" } as const;
      await world.expectPaid(payer, 1, async () => {
        for (let time = 0; time < 6; time += 1) {
          const { status, isWhole } = await payAndCut(payer, url, cut);
          expect({ status, isWhole }, `answer ${time}`).to.deep.equal({ status: 200, isWhole: true });
        }
        expect((await payAndCut(payer, url, cut)).status).to.equal(402);
      });
      await world.expectPaid(payer, 1, async () => expect((await payer.fetch(url)).status).to.equal(200));
    } finally {
      await forgetful.stop();
    }
  });

  describe("to a wallet that its payment has emptied", () => {
    /** Pays, and disconnects before it has its response. */
    const payForNothing = async (payer: Payer, url: string) => {
      const payment = await signFor(payer, url);
      const client = new AbortController();
      world.facilitatorProxy.overrides["/settle"] = async (pass) => {
        const real = await pass();
        client.abort();
        await new Promise((resolve) => setTimeout(resolve, 50));
        return real;
      };
      await world.expectPaid(payer, 1, async () => {
        await fetchWith(url, payment, { signal: client.signal }).catch(() => "gone");
        await until(async () => (await world.chain.balanceOf(payer.address)) === 0n);
      });
      world.facilitatorProxy.overrides = {};
    };

    it("gets what it has paid for with a new payment, without the facilitator", async () => {
      const payer = await world.createPayer(PRICE);
      const url = newUrl();
      await payForNothing(payer, url);
      await world.facilitatorProxy.stop();
      const answer = await world.expectPaid(payer, 0, () => payer.fetch(url));
      await world.facilitatorProxy.restart();
      expect(answer.status).to.equal(200);
      expect(await answer.text()).to.equal(TABLE_TEXT);
      // Once: it has nothing left for another one.
      await world.expectPaid(payer, 0, async () => expectError(await payer.fetch(url), "payment_required"));
    });

    it("is the only one that does: no payment that it has not signed, or that is used up, gets the answer", async () => {
      const payer = await world.createPayer(2n * PRICE);
      const stranger = await world.createPayer();
      const [url, other] = [newUrl(), newUrl()];
      const used = await signFor(payer, other);
      await world.expectPaid(payer, 1, () => fetchWith(other, used));
      await payForNothing(payer, url);
      const good = await signFor(payer, url);
      const foreign = await signFor(stranger, url);
      const { authorization, signature } = good.payload as { authorization: object; signature: string };
      const forgeries = [
        // What anyone can read from the chain, for an address that it was not used for.
        { ...used, resource: good.resource },
        { ...good, payload: { authorization, signature: foreign.payload.signature } },
        {
          ...good,
          payload: { authorization: { ...authorization, nonce: `0x${"77".repeat(32)}` }, signature },
        },
        { ...good, payload: { authorization, signature: `0x${"ab".repeat(66)}` } },
      ];
      for (const forgery of forgeries) {
        await world.expectPaid(payer, 0, async () =>
          expectError(await fetchWith(url, forgery as typeof good), "payment_required"),
        );
      }
      const answer = await world.expectPaid(payer, 0, () => fetchWith(url, good));
      expect(answer.status, await answer.clone().text()).to.equal(200);
    });

    it("may be a contract", async () => {
      const payer = await createBurningPayer(world, { rounds: 1n });
      const url = newUrl();
      const client = new AbortController();
      world.facilitatorProxy.overrides["/settle"] = async (pass) => {
        const real = await pass();
        client.abort();
        return real;
      };
      await payer.fetch(url, { signal: client.signal }).catch(() => "gone");
      world.facilitatorProxy.overrides = {
        "/verify": async () => ({ status: 200, body: { isValid: false } }),
      };
      const answer = await world.expectPaid(payer, 0, () => payer.fetch(url));
      expect(answer.status).to.equal(200);
    });
  });
});
