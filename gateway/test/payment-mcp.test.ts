import { setTimeout as sleep } from "node:timers/promises";
import type { PaymentPayload, PaymentRequired } from "@x402/core/types";
import { expect } from "chai";
import { after, afterEach, before, it } from "mocha";
import { describeWithChain } from "../../services/shared/testkit/describe.ts";
import { catalogue } from "../catalogue.ts";
import { PAYMENT_META, RECEIPT_META } from "../mcp/paid/paid-asker.ts";
import { MAX_CHARACTERS } from "../mcp/tools/table-text.ts";
import { UNLIMITED } from "../testkit/gateway.ts";
import { answerDeclared, connectToPayHost, type McpClient } from "../testkit/mcp.ts";
import type { Payer } from "../testkit/payments/payer.ts";
import {
  PAID_PATH,
  type PayGateway,
  type PaymentEnvironment,
  PRICE,
  startPayGateway,
  startPaymentEnvironment,
} from "../testkit/payments/payment-gateway.ts";
import { answerError, answerTable } from "../testkit/upstream.ts";

const TOOL = "solana_token_transactions";
const WSOL = "So11111111111111111111111111111111111111112";
const FOUR = { ratePerSecond: 0.001, burst: 4, dailyQuota: null };

interface Result {
  readonly content: readonly { readonly text: string }[];
  readonly isError?: boolean;
  readonly structuredContent?: PaymentRequired & Record<string, unknown>;
  readonly _meta?: Record<string, { success: boolean; transaction: string; payer: string }>;
}

describeWithChain("gateway: tools at the pay-per-request host", () => {
  let world: PaymentEnvironment;
  let gateway: PayGateway;
  let mcp: McpClient;
  /** Each test buys something of its own, so that none finds what another has left. */
  let bought = 0;
  const newArguments = () => {
    bought += 1;
    return { token_address: WSOL, days: 1, offset: bought };
  };
  const call = async (args: Record<string, unknown>, payment?: unknown, client = mcp): Promise<Result> => {
    const meta = payment === undefined ? {} : { _meta: { [PAYMENT_META]: payment } };
    return (await client.client.callTool({ name: TOOL, arguments: args, ...meta })) as unknown as Result;
  };
  const signFor = async (payer: Payer, args: Record<string, unknown>): Promise<PaymentPayload> =>
    payer.sign((await call(args)).structuredContent as PaymentRequired);
  const answerWell = () => answerDeclared([gateway.evmDex, gateway.lending, gateway.solana], catalogue);

  before(async () => {
    world = await startPaymentEnvironment();
    gateway = await startPayGateway(world);
    mcp = await connectToPayHost(gateway.payUrl);
    answerWell();
  });
  afterEach(answerWell);
  after(async () => {
    await mcp?.close();
    await gateway?.stop();
    await world?.stop();
  });

  it("are those that are sold, each with its price, and explain_column, which costs nothing", async () => {
    expect(mcp.client.getInstructions()).to.include(PAYMENT_META);
    const { tools } = await mcp.client.listTools();
    expect(tools.map(({ name }) => name)).to.deep.equal([
      "explain_column",
      TOOL,
      "solana_token_transactions_time_bounded",
    ]);
    expect(tools[1]?.description).to.match(/^Costs 0\.05 USDC a call\. /);
    const explained = await mcp.call("explain_column", { column: "blockTime" });
    expect(explained).to.have.property("isError", false);
    expect(await mcp.call("solana_tokens").catch(String)).to.include("no tool");
  });

  it("answer a call without a payment with the terms, and ask no service", async () => {
    const seen = gateway.solana.seen.length;
    const { isError, structuredContent, content } = await call(newArguments());
    expect(isError).to.equal(true);
    expect(structuredContent).to.include({ x402Version: 2 });
    expect(structuredContent?.resource?.url).to.equal(
      `${gateway.payUrl}${PAID_PATH}?token_address=${WSOL}&days=1&offset=${bought}&limit=100`,
    );
    expect(structuredContent?.accepts[0]).to.include({ amount: String(PRICE), payTo: world.payTo });
    expect(JSON.parse(content[0]?.text ?? "")).to.deep.equal(structuredContent);
    expect(gateway.solana.seen).to.have.length(seen);
  });

  it("take a payment once, with a receipt, however often the same call is sent", async () => {
    const payer = await world.createPayer();
    const args = newArguments();
    const payment = await signFor(payer, args);
    const first = await world.expectPaid(payer, 1, () => call(args, payment));
    expect(first.isError).not.to.equal(true);
    expect(JSON.parse(first.content[0]?.text ?? "")).to.include({ block: 4_711 });
    const receipt = first._meta?.[RECEIPT_META];
    expect(receipt).to.include({ success: true });
    expect(receipt?.payer.toLowerCase()).to.equal(payer.address.toLowerCase());
    const hash = receipt?.transaction as `0x${string}`;
    expect((await world.chain.client.getTransactionReceipt({ hash })).status).to.equal("success");
    const again = await world.expectPaid(payer, 0, () => call(args, payment));
    expect(JSON.parse(again.content[0]?.text ?? "").rows).to.deep.equal(
      JSON.parse(first.content[0]?.text ?? "").rows,
    );
  });

  it("refuse a payment that was signed for other arguments, and say the terms again", async () => {
    const payer = await world.createPayer();
    const payment = await signFor(payer, newArguments());
    const { isError, structuredContent } = await world.expectPaid(payer, 0, () =>
      call(newArguments(), payment),
    );
    expect(isError).to.equal(true);
    expect(structuredContent?.error).to.include("another resource");
  });

  it("cost nothing where the service fails or arguments are wrong", async () => {
    const payer = await world.createPayer();
    const args = newArguments();
    const payment = await signFor(payer, args);
    gateway.solana.answer = answerError(503, "unavailable", "34 % done");
    const failed = await world.expectPaid(payer, 0, () => call(args, payment));
    expect(failed.content[0]?.text).to.include("34 % done");
    expect(failed.isError).to.equal(true);
    const wrong = await call({ ...args, days: 0 });
    expect(wrong.content[0]?.text).to.match(/days.*\(bad_request\)/);
    expect((await call(args, "paid, honestly")).content[0]?.text).to.include("must be a payment");
    expect((await call(args, { x402Version: 2 })).content[0]?.text).to.include("cannot be read");
    expect((await call(args, { x402Version: 2, note: "x".repeat(12_000) })).content[0]?.text).to.include(
      "characters in base64",
    );
  });

  it("cost nothing where the client leaves before the service has answered", async () => {
    const payer = await world.createPayer();
    const args = newArguments();
    const params = { name: TOOL, arguments: args, _meta: { [PAYMENT_META]: await signFor(payer, args) } };
    const gone = new AbortController();
    let isOver: Promise<unknown> | undefined;
    gateway.solana.answer = (req, res) => {
      req.on("error", () => {});
      const letGo = new Promise<void>((resolve) => res.once("close", () => res.writableEnded || resolve()));
      // A gateway that did not let go of it would be answered, and settle.
      const answered = async () => {
        await sleep(1_500, undefined, { ref: false });
        answerTable(req, res);
        await sleep(3_000, undefined, { ref: false });
      };
      isOver = Promise.race([letGo, answered()]);
      gone.abort();
    };
    await world.expectPaid(payer, 0, async () => {
      const sent = fetch(`${gateway.payUrl}/mcp`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }),
        signal: gone.signal,
      });
      expect(await sent.catch((error: Error) => error.name)).to.equal("AbortError");
      await isOver;
    });
  });

  it("tell a settlement that failed, with its receipt", async () => {
    const payer = await world.createPayer();
    const args = newArguments();
    const payment = await signFor(payer, args);
    const { address } = payer;
    const failed = {
      success: false,
      errorReason: "insufficient_funds",
      transaction: "",
      network: "eip155:8453",
      payer: address,
    };
    world.facilitatorProxy.overrides = { "/settle": async () => ({ status: 200, body: failed }) };
    const { isError, structuredContent, _meta } = await world.expectPaid(payer, 0, () => call(args, payment));
    world.facilitatorProxy.overrides = {};
    expect(isError).to.equal(true);
    expect(structuredContent?.[RECEIPT_META]).to.include({ success: false });
    expect(_meta?.[RECEIPT_META]).to.include({ success: false });
  });

  it("give all of an answer that was paid for: nothing is cut, and other columns are told as they came", async () => {
    const payer = await world.createPayer();
    const [long, odd] = [newArguments(), newArguments()];
    const payments = [await signFor(payer, long), await signFor(payer, odd)];
    answerDeclared([gateway.solana], catalogue, ({ columns }) =>
      Array.from({ length: 100 + bought }, () => columns.map(() => "long ".repeat(10))),
    );
    const whole = (await world.expectPaid(payer, 1, () => call(long, payments[0]))).content[0]?.text ?? "";
    expect(whole.length).to.be.above(MAX_CHARACTERS);
    expect(JSON.parse(whole).rowsShown).to.equal(100);
    gateway.solana.answer = (_req, res) => {
      const { mediaType } = catalogue.find(({ path }) => path === PAID_PATH) ?? { mediaType: "" };
      res.writeHead(200, { "Content-Type": mediaType }).end('[{"columns":[{"name":"newer"}],"data":[[1]]}]');
    };
    const { content, isError, _meta } = await world.expectPaid(payer, 1, () => call(odd, payments[1]));
    expect([content[0]?.text, isError]).to.deep.equal([
      '[{"columns":[{"name":"newer"}],"data":[[1]]}]',
      undefined,
    ]);
    expect(_meta?.[RECEIPT_META]).to.include({ success: true });
  });

  it("count calls without a payment against the address of their client, not against this machine's", async () => {
    const limits = { ...UNLIMITED, address: FOUR };
    const own = await startPayGateway(world, { config: { limits, trustedProxies: ["127.0.0.0/8"] } });
    const clientOf = (n: number) => connectToPayHost(own.payUrl, { "X-Forwarded-For": `192.0.2.${n}` });
    try {
      // To connect takes three pages of the four, and the call is the fourth.
      for (let n = 1; n <= 5; n += 1) {
        const client = await clientOf(n);
        const { structuredContent } = await call(newArguments(), undefined, client);
        expect(structuredContent, `client ${n}`).to.include({ x402Version: 2 });
        expect(await call(newArguments(), undefined, client).catch(String)).to.include("rate_limited");
        await client.close();
      }
    } finally {
      await own.stop();
    }
  });
});
