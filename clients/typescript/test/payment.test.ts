import { encodePaymentSignatureHeader } from "@x402/core/http";
import { expect } from "chai";
import { after, before, beforeEach, describe, it } from "mocha";
import {
  type PayGateway,
  type PaymentEnvironment,
  PRICE,
  startPayGateway,
  startPaymentEnvironment,
} from "../../../gateway/testkit/payments/payment-gateway.ts";
import { describeWithChain } from "../../../services/shared/testkit/describe.ts";
import {
  ApiError,
  Client,
  type PaymentOffer,
  type PaymentOptions,
  SpendLimitError,
  USDC_ON_BASE,
} from "../src/index.ts";

const PATH = "/api/v1/solana/tokens/security";
const PARAMS = { token_address: "So11111111111111111111111111111111111111112" };
const TABLE = { columns: [{ name: "score", type: "UInt8" }], data: [[7]], rows: 1 };

describe("the spend limit of the TypeScript client", () => {
  let signed: PaymentOffer[];
  /** The payment that each request brought. */
  let payments: (string | null)[];
  let way: Record<string, unknown>;
  let terms: Record<string, unknown>;
  beforeEach(() => {
    signed = [];
    payments = [];
    way = {
      scheme: "exact",
      network: "eip155:8453",
      asset: USDC_ON_BASE.asset,
      amount: "50000",
      payTo: "0xa",
    };
    terms = { x402Version: 2, resource: { url: "http://pay" }, error: "payment_required" };
  });

  /** A host that sells; `paid` answers requests with a payment. */
  function clientOf(
    limits: Partial<PaymentOptions>,
    paid: () => Response = () => Response.json(TABLE),
  ): Client {
    const host = async (_url: unknown, init: RequestInit = {}): Promise<Response> => {
      const payment = new Headers(init.headers).get("payment-signature");
      payments.push(payment);
      return payment === null ? Response.json({ accepts: [way], ...terms }, { status: 402 }) : paid();
    };
    const pay = (offer: PaymentOffer) => `payment ${signed.push(offer)}`;
    const payment = { ...USDC_ON_BASE, maxPerRequest: 50_000n, maxTotal: 120_000n, pay, ...limits };
    return new Client({
      url: "http://pay",
      payment,
      fetch: host as typeof fetch,
      retry: { wait: async () => {} },
    });
  }
  const refusalOf = async (client: Client): Promise<Error> =>
    client.get(PATH, PARAMS).then(
      () => expect.fail("no error"),
      (error: Error) => error,
    );

  it("lets a payment pass that is within it, and holds back what would exceed the total", async () => {
    const client = clientOf({});
    for (const total of [50_000n, 100_000n]) {
      expect((await client.get(PATH, PARAMS)).rows).to.deep.equal([{ score: 7 }]);
      expect(client.signed).to.equal(total);
    }
    expect(await refusalOf(client))
      .to.be.instanceOf(SpendLimitError)
      .and.have.property("message")
      .that.includes("maxTotal");
    expect(signed).to.have.length(2);
  });

  it("holds back a request that costs too much, and one in another asset, network, scheme or form", async () => {
    const others: Record<string, unknown>[] = [
      { amount: "50001" },
      { amount: "-50000" },
      { amount: "5e4" },
      { amount: undefined },
      { asset: `0x${"1".repeat(40)}` },
      { network: "eip155:1" },
      { scheme: "upto" },
    ];
    const usual = way;
    for (const change of others) {
      way = { ...usual, ...change };
      const client = clientOf({});
      expect(await refusalOf(client), JSON.stringify(change)).to.be.instanceOf(SpendLimitError);
      expect(client.signed).to.equal(0n);
    }
    way = usual;
    for (const change of [
      { accepts: [] },
      { accepts: undefined },
      { x402Version: 1 },
      { resource: undefined },
    ]) {
      terms = { ...terms, ...change };
      expect(await refusalOf(clientOf({})), JSON.stringify(change)).to.be.instanceOf(SpendLimitError);
    }
    expect(signed).to.deep.equal([]);
  });

  it("shows the signer the one way that it was held against", async () => {
    terms = { ...terms, accepts: [{ ...way, asset: "0xother", amount: "1" }, way, { ...way, amount: "9" }] };
    await clientOf({}).get(PATH, PARAMS);
    expect(signed.map(({ accepts }) => accepts)).to.deep.equal([[way]]);
  });

  it("is shared by requests that are made together", async () => {
    const pay = async () => {
      await new Promise((resolve) => setTimeout(resolve, 5));
      return "payment";
    };
    const client = clientOf({ pay });
    const results = await Promise.allSettled(Array.from({ length: 5 }, () => client.get(PATH, PARAMS)));
    expect(results.map(({ status }) => status).sort()).to.deep.equal([
      "fulfilled",
      "fulfilled",
      "rejected",
      "rejected",
      "rejected",
    ]);
    expect(client.signed).to.equal(100_000n);
  });

  it("sends the same payment again after a failure, and never signs a second one for a request", async () => {
    const unsure = Response.json(
      { error: "unavailable", message: "Not known yet.", session: "s" },
      { status: 503 },
    );
    const answers = [unsure, Response.json(TABLE)];
    await clientOf({}, () => answers.shift() as Response).get(PATH, PARAMS);
    expect(payments).to.deep.equal([null, "payment 1", "payment 1"]);
    const refused = () =>
      Response.json({ error: "payment_required", message: "No balance." }, { status: 402 });
    const client = clientOf({}, refused);
    const error = await refusalOf(client);
    expect(error).to.be.instanceOf(ApiError).and.include({ status: 402, message: "No balance." });
    expect(signed).to.have.length(2);
    expect(client.signed, "it may still be settled").to.equal(50_000n);
  });

  it("does not count what the signer would not sign", async () => {
    const client = clientOf({ pay: () => Promise.reject(new Error("locked")) });
    expect(await refusalOf(client)).to.have.property("message", "locked");
    expect(client.signed).to.equal(0n);
  });

  it("takes no key beside it, and pays nothing without it", async () => {
    const payment = { ...USDC_ON_BASE, maxPerRequest: 1n, maxTotal: 1n, pay: () => "" };
    expect(() => new Client({ url: "http://pay", apiKey: "k", payment })).to.throw(TypeError);
    const fetch = (async () =>
      Response.json(
        { ...terms, message: "Pay.", accepts: [way] },
        { status: 402 },
      )) as typeof globalThis.fetch;
    const error = await refusalOf(new Client({ url: "http://pay", fetch }));
    expect(error).to.be.instanceOf(ApiError).and.include({ code: "payment_required", status: 402 });
  });
});

describeWithChain("the TypeScript client at the pay-per-request host", () => {
  let world: PaymentEnvironment;
  let gateway: PayGateway;
  before(async () => {
    world = await startPaymentEnvironment();
    gateway = await startPayGateway(world);
  });
  after(async () => {
    await gateway?.stop();
    await world?.stop();
  });

  it("pays by a signer of the x402 packages what the rows cost, and no more than allowed", async () => {
    const payer = await world.createPayer();
    const pay = async (offer: PaymentOffer) => encodePaymentSignatureHeader(await payer.sign(offer));
    const payment = { ...USDC_ON_BASE, maxPerRequest: PRICE, maxTotal: PRICE, pay };
    const client = new Client({ url: gateway.payUrl, payment });
    const ask = () => client.get("/api/v1/solana/token-transactions", { ...PARAMS, days: 1 });
    const { rows, block } = await world.expectPaid(payer, 1, ask);
    expect(rows).to.deep.equal([{ id: 8453 }]);
    expect(block).to.equal(7);
    const refusal = await world.expectPaid(payer, 0, () => ask().catch((error: unknown) => error));
    expect(refusal).to.be.instanceOf(SpendLimitError);
  });
});
