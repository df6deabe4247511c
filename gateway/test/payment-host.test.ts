import { decodePaymentRequiredHeader } from "@x402/core/http";
import { expect } from "chai";
import { after, afterEach, before, describe, it } from "mocha";
import { MANY_EVM_ADDRESSES } from "../../services/shared/contract/testkit/many-addresses.ts";
import { describeThorough, describeWithChain } from "../../services/shared/testkit/describe.ts";
import { type RedisServer, startRedisOrSkip } from "../../services/shared/testkit/redis-server.ts";
import { expectError } from "../testkit/expect-error.ts";
import { UNLIMITED } from "../testkit/gateway.ts";
import { fetchWith, receiptOf, signFor } from "../testkit/payments/payer.ts";
import {
  PAID_PATH,
  PAID_QUERY,
  type PayGateway,
  type PaymentEnvironment,
  startPayGateway,
  startPaymentEnvironment,
} from "../testkit/payments/payment-gateway.ts";
import { rawGet } from "../testkit/raw-http.ts";
import { until } from "../testkit/until.ts";
import { answerTable, TABLE_TEXT } from "../testkit/upstream.ts";

const TARGET = `${PAID_PATH}?${PAID_QUERY}`;

describeWithChain("gateway: the pay-per-request host", () => {
  let world: PaymentEnvironment;
  let gateways: PayGateway[] = [];
  const start = async (options: Parameters<typeof startPayGateway>[1]) => {
    const gateway = await startPayGateway(world, options);
    gateways.push(gateway);
    return gateway;
  };
  before(async () => {
    world = await startPaymentEnvironment();
  });
  afterEach(async () => {
    world.facilitatorProxy.overrides = {};
    await Promise.all(gateways.map((gateway) => gateway.stop()));
    gateways = [];
  });
  after(() => world?.stop());

  it("sells no live streams, and says so before any payment", async () => {
    const gateway = await start({});
    const answer = await fetch(gateway.urlOf(1), { headers: { Accept: "text/event-stream" } });
    const { message } = (await answer.clone().json()) as { message: string };
    await expectError(answer, "bad_request");
    expect(message).to.match(/not sold by the request/);
  });

  describe("with an address of its own", () => {
    const publicUrl = "https://pay.example";

    it("is also behind the gateway's port, for requests that name it and for no others", async () => {
      const gateway = await start({ payment: { publicUrl } });
      for (const host of ["pay.example", "PAY.example", "pay.example:443"]) {
        const answer = await rawGet(gateway.url, TARGET, { Host: host });
        expect(answer.status, host).to.equal(402);
        const { resource } = decodePaymentRequiredHeader(answer.headers["payment-required"] ?? "");
        expect(resource.url).to.equal(`${publicUrl}${TARGET}`);
        expect(answer.headers["x-session-id"]).to.match(/^[0-9a-f-]{36}$/);
        expect((await rawGet(gateway.url, "/docs", { Host: host })).status).to.equal(404);
      }
      for (const host of ["pay.example.evil.example", "evil.example", "pay.example:8080", "localhost"])
        expect((await rawGet(gateway.url, TARGET, { Host: host })).status, host).to.equal(401);
    });

    it("sells tools at /mcp of either port", async () => {
      const gateway = await start({ payment: { publicUrl } });
      const own = await fetch(`${gateway.payUrl}/mcp`);
      expect([own.status, own.headers.get("allow")]).to.deep.equal([405, "POST, OPTIONS"]);
      const behind = await rawGet(gateway.url, "/mcp", { Host: "pay.example" });
      expect(behind.status).to.equal(405);
    });

    it("sells there, for the same payments as at its own port", async () => {
      const gateway = await start({ payment: { publicUrl } });
      const payer = await world.createPayer();
      const payment = await signFor(payer, `${gateway.payUrl}${TARGET}`);
      await world.expectPaid(payer, 1, async () => {
        const answer = await fetchWith(`${gateway.payUrl}${TARGET}`, payment);
        expect(answer.status).to.equal(200);
      });
      const header = Buffer.from(JSON.stringify(payment)).toString("base64");
      await world.expectPaid(payer, 0, async () => {
        const answer = await rawGet(gateway.url, TARGET, {
          Host: "pay.example",
          "PAYMENT-SIGNATURE": header,
        });
        expect(answer.status).to.equal(200);
        expect(answer.body).to.equal(TABLE_TEXT);
      });
    });

    it("keeps the path of its public address", async () => {
      const gateway = await start({ payment: { publicUrl: "https://data.example/pay" } });
      const answer = await fetch(`${gateway.payUrl}${TARGET}`);
      const { resource } = decodePaymentRequiredHeader(answer.headers.get("payment-required") ?? "");
      expect(resource.url).to.equal(`https://data.example/pay${TARGET}`);
      expect((await rawGet(gateway.url, TARGET, { Host: "data.example" })).status).to.equal(401);
    });

    it("is named by OpenAPI and the documentation, with its prices", async () => {
      const prices = new Map([["/evm/chains", "0.01"]]);
      const gateway = await start({ payment: { publicUrl, prices } });
      const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as {
        paths: Record<string, { get: { servers?: { url: string }[]; "x-payment"?: { priceUsd: number } } }>;
      };
      expect(paths["/evm/chains"]?.get["x-payment"]?.priceUsd).to.equal(0.01);
      expect(paths["/evm/chains"]?.get.servers?.map(({ url }) => url)).to.include(publicUrl);
      expect(paths["/evm/dexes"]?.get.servers).to.equal(undefined);
      const docs = await (await fetch(`${gateway.url}/docs`)).text();
      expect(docs).to.contain(`<code>${publicUrl}</code>`);
      expect(docs).to.match(/\/evm\/chains<\/code><\/td><td>0\.01 USD/);
    });
  });

  it("sells by configuration what is not sold by default, at its price", async () => {
    const gateway = await start({
      payment: {
        prices: new Map([
          ["/evm/chains", "0.01"],
          [PAID_PATH, "0"],
        ]),
      },
    });
    const payer = await world.createPayer();
    const before = await world.received();
    const answer = await payer.fetch(`${gateway.payUrl}/evm/chains`);
    expect(answer.status).to.equal(200);
    expect(answer.headers.get("content-type")).to.equal("application/vnd.service.table.v1.0.0+json");
    expect((await world.received()) - before).to.equal(10_000n);
    expect((await fetch(`${gateway.payUrl}${TARGET}`)).status).to.equal(404);
  });

  it("sells requests for the longest lists: terms and payment name them by a hash", async () => {
    const gateway = await start({ payment: { prices: new Map([["/evm/prices", "0.01"]]) } });
    const payer = await world.createPayer();
    const tokens = encodeURIComponent(MANY_EVM_ADDRESSES.join(","));
    const target = `/evm/prices?tokens=${tokens}`;
    const offer = await fetch(`${gateway.payUrl}${target}`);
    expect(offer.status).to.equal(402);
    const header = offer.headers.get("payment-required") ?? "";
    expect(header.length, "what clients read").to.be.below(12_000);
    const { resource } = decodePaymentRequiredHeader(header);
    expect(resource?.url).to.match(/\/evm\/prices#query-sha256=[0-9a-f]{64}$/);
    const before = await world.received();
    const answer = await payer.fetch(`${gateway.payUrl}${target}`);
    expect(answer.status, await answer.clone().text()).to.equal(200);
    expect((await world.received()) - before).to.equal(10_000n);
    expect(gateway.evmDex.seen.at(-1)?.url).to.equal(target);
    // A payment for one list does not buy another.
    const payment = await signFor(payer, `${gateway.payUrl}${target}`);
    const other = `${target}%2C${MANY_EVM_ADDRESSES[0]}`.replace(`${MANY_EVM_ADDRESSES[1]}%2C`, "");
    await expectError(await fetchWith(`${gateway.payUrl}${other}`, payment), "payment_required");
    expect((await world.received()) - before).to.equal(10_000n);
  });

  it("limits offers, checks and refusals by address", async () => {
    const slow = (burst: number) => ({ ratePerSecond: 0.001, burst, dailyQuota: null });
    const limits = { ...UNLIMITED, address: slow(5), verification: slow(2) };
    const gateway = await start({ config: { limits } });
    const payer = await world.createPayer();
    const url = gateway.urlOf();
    const payment = await signFor(payer, url);
    for (let left = 4; left > 0; left -= 1) expect((await fetch(url)).status).to.equal(402);
    const limited = await fetch(url);
    expect(Number(limited.headers.get("retry-after"))).to.be.above(900);
    await expectError(limited, "rate_limited");
    await world.expectPaid(payer, 1, async () => {
      expect((await fetchWith(url, payment)).status).to.equal(200);
      expect((await fetchWith(url, payment)).status).to.equal(200);
      await expectError(await fetchWith(url, payment), "rate_limited");
    });
    for (let left = 5; left > 0; left -= 1) expect((await fetch(`${gateway.payUrl}/x`)).status).to.equal(404);
    await expectError(await fetch(`${gateway.payUrl}/x`), "rate_limited");
  });

  it("may return cached responses of the service, and settles each of them", async () => {
    const gateway = await start({ config: { cacheBytes: 1_048_576 } });
    gateway.solana.answer = (req, res) => {
      res.setHeader("X-Data-Block", "8");
      answerTable(req, res);
    };
    const [one, other] = await world.createPayers(2);
    if (!one || !other) throw new Error("no payers");
    for (const payer of [one, other]) {
      const answer = await world.expectPaid(payer, 1, () => payer.fetch(gateway.urlOf(77)));
      expect(await answer.text()).to.equal(TABLE_TEXT);
      expect(receiptOf(answer)?.success).to.equal(true);
    }
  });

  it("returns the response of a payment again in each client's encoding: compressed or not", async () => {
    const gateway = await start({});
    const long = JSON.stringify({ columns: [], data: [["x".repeat(5_000)]], rows: 1 });
    gateway.solana.answer = (_req, res) => {
      res.writeHead(200, { "Content-Type": "application/json", "Content-Length": long.length }).end(long);
    };
    const payer = await world.createPayer();
    const url = gateway.urlOf(78);
    const header = Buffer.from(JSON.stringify(await signFor(payer, url))).toString("base64");
    const fetchEncoded = (encoding: string) =>
      fetch(url, { headers: { "PAYMENT-SIGNATURE": header, "Accept-Encoding": encoding } });
    await world.expectPaid(payer, 1, async () => {
      for (const encoding of ["identity", "gzip", "br", "identity"]) {
        const answer = await fetchEncoded(encoding);
        expect(answer.headers.get("content-encoding")).to.equal(encoding === "identity" ? null : encoding);
        expect(await answer.text()).to.equal(long);
      }
    });
  });

  describeThorough("as two gateways that share a store and Redis", () => {
    let redis: RedisServer | undefined;
    before(async function () {
      redis = await startRedisOrSkip(this);
    });
    after(() => redis?.remove());
    const publicUrl = "https://pay.example";
    const startTwo = async (redisUrl: string | undefined) => {
      const settings = { payment: { publicUrl }, config: { redisUrl } };
      return [await start(settings), await start(settings)] as const;
    };

    it("charges once and sends one request for ten copies of a payment, whichever gateway receives them", async () => {
      const [one, other] = await startTwo(redis?.url);
      const target = `${TARGET}&offset=501`;
      const payer = await world.createPayer();
      const payment = await signFor(payer, `${one.payUrl}${target}`);
      const answers = await world.expectPaid(payer, 1, () =>
        Promise.all(
          Array.from({ length: 10 }, (_, at) =>
            fetchWith(`${(at % 2 ? one : other).payUrl}${target}`, payment),
          ),
        ),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal(answers.map(() => 200));
      expect(one.solana.seen.length + other.solana.seen.length).to.equal(1);
    });

    it("returns at one gateway what was paid at the other when the client had disconnected", async () => {
      const [one, other] = await startTwo(redis?.url);
      const target = `${TARGET}&offset=502`;
      const payer = await world.createPayer();
      const payment = await signFor(payer, `${one.payUrl}${target}`);
      const client = new AbortController();
      world.facilitatorProxy.overrides["/settle"] = async (pass) => {
        const real = await pass();
        client.abort();
        return real;
      };
      await world.expectPaid(payer, 1, async () => {
        await fetchWith(`${one.payUrl}${target}`, payment, { signal: client.signal }).catch(() => "gone");
        world.facilitatorProxy.overrides = {};
        const again = await fetchWith(`${other.payUrl}${target}`, payment);
        expect(again.status).to.equal(200);
      });
    });

    it("does not wait for itself where the other one was faster while Redis is unreachable", async () => {
      const [one, other] = await startTwo("redis://127.0.0.1:9");
      const target = `${TARGET}&offset=504`;
      const payer = await world.createPayer();
      const payment = await signFor(payer, `${one.payUrl}${target}`);
      let isSettling = false;
      let isRefused = false;
      let checks = 0;
      world.facilitatorProxy.overrides["/verify"] = async (pass) => {
        checks += 1;
        // Both have looked for an earlier payment by then, and found none; the second continues when the first is being settled.
        const mayGoOn = checks === 1 ? () => checks > 1 : () => isSettling;
        await until(mayGoOn);
        return pass();
      };
      world.facilitatorProxy.overrides["/settle"] = async (pass) => {
        isSettling = true;
        await until(() => isRefused);
        return pass();
      };
      await world.expectPaid(payer, 1, async () => {
        const first = fetchWith(`${one.payUrl}${target}`, payment);
        await until(() => checks > 0);
        const second = await fetchWith(`${other.payUrl}${target}`, payment);
        const { message } = await expectError(second, "unavailable");
        expect(message).to.contain("being settled by another request");
        isRefused = true;
        expect((await first).status).to.equal(200);
      });
      world.facilitatorProxy.overrides = {};
    });

    it("never charges a payment twice while Redis is unreachable", async () => {
      const [one, other] = await startTwo("redis://127.0.0.1:9");
      const target = `${TARGET}&offset=503`;
      const payer = await world.createPayer();
      const payment = await signFor(payer, `${one.payUrl}${target}`);
      const answers = await world.expectPaid(payer, 1, () =>
        Promise.all(
          Array.from({ length: 6 }, (_, at) =>
            fetchWith(`${(at % 2 ? one : other).payUrl}${target}`, payment),
          ),
        ),
      );
      for (const answer of answers) expect([200, 503]).to.include(answer.status);
      await until(async () => (await fetchWith(`${one.payUrl}${target}`, payment)).status === 200);
    });
  });
});
