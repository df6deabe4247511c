import { encodePaymentSignatureHeader } from "@x402/core/http";
import { findFreePort } from "../../deploy/check/servers.ts";
import { startPaymentChain } from "../../deploy/devnet/usdc/testkit.ts";
import { createPayer, signFor } from "../../gateway/testkit/payments/payer.ts";
import { cpuSecondsOf } from "../process-cost.ts";
import { type BuiltGateway, end, startGatewayProcess, untilReady } from "./gateway-process.ts";
import { startUpstream } from "./upstream.ts";

/** What a request took, in the order in which they were made, and the gateway's CPU for one. */
export interface PaidPart {
  readonly tookMs: readonly number[];
  readonly cpuMs: number;
}

export interface PaidCost {
  /** The same endpoint with a key, each request for something else. */
  readonly withKey: PaidPart;
  /** 402 with the offer. */
  readonly offer: PaidPart;
  /** With its payment, from sending it to the last byte. */
  readonly paid: PaidPart;
  /** Mean of what of it was the settlement: the facilitator's transaction and looking it up on the chain. */
  readonly settlementMs: number;
}

const PATH = "/api/v1/solana/token-transactions";
const QUERY = "token_address=So11111111111111111111111111111111111111112&days=1";
const WARM_UP = 20;

/**
 * One request after the other, with a key, without anything, and with a payment that was signed before: on a local chain
 * that mines at once, with the built-in facilitator as a process of its own. All of them share the machine.
 */
export async function measurePaid(built: BuiltGateway, requests: number): Promise<PaidCost> {
  const chain = await startPaymentChain();
  const [gas, recipient] = await Promise.all([chain.createWallet(), chain.createWallet()]);
  const upstream = await startUpstream({
    mediaType: "application/json",
    body: JSON.stringify({ columns: [], data: [], rows: 0, filler: "x".repeat(2_000) }),
    headers: { "Cache-Control": "private, max-age=1" },
  });
  const facilitatorPort = await findFreePort();
  const shared = { X402_PAY_TO: recipient.address, EVM_RPC_8453: chain.url, BIND_HOST: "127.0.0.1" };
  const facilitator = built.spawn(
    "payments/facilitator/main",
    {
      ...shared,
      FACILITATOR_PORT: String(facilitatorPort),
      FACILITATOR_ADMIN_PORT: "off",
      FACILITATOR_PRIVATE_KEY: gas.key,
    },
    "facilitator.log",
  );
  await untilReady(facilitatorPort, facilitator);
  const payPort = await findFreePort();
  const gateway = await startGatewayProcess(built, {
    upstream,
    settings: {
      ...shared,
      // Several would need Redis to agree on payments.
      GATEWAY_WORKERS: "1",
      X402_PORT: String(payPort),
      X402_FACILITATOR_URL: `http://127.0.0.1:${facilitatorPort}`,
      ADDRESS_RATE: "1000000",
      ADDRESS_BURST: "1000000",
      VERIFY_RATE: "1000000",
      VERIFY_BURST: "1000000",
    },
  });
  try {
    const [account] = await chain.createPayers(1, 1_000_000_000n);
    const payer = createPayer(account as NonNullable<typeof account>);
    let number = 0;
    const nextUrl = (port: number) => {
      number += 1;
      return `http://127.0.0.1:${port}${PATH}?${QUERY}&offset=${number}`;
    };

    /** Milliseconds of one request, its body read. */
    const time = async (url: string, status: number, headers: Record<string, string>): Promise<number> => {
      const startedMs = performance.now();
      const answer = await fetch(url, { headers });
      const text = await answer.text();
      const tookMs = performance.now() - startedMs;
      if (answer.status !== status) throw new Error(`${url} answered ${answer.status}: ${text}`);
      return tookMs;
    };
    const measure = async (send: (at: number) => Promise<number>): Promise<PaidPart> => {
      const tookMs: number[] = [];
      for (let at = 0; at < WARM_UP; at += 1) await send(at);
      const before = cpuSecondsOf(gateway.pid);
      for (let at = WARM_UP; at < WARM_UP + requests; at += 1) tookMs.push(await send(at));
      return { tookMs, cpuMs: ((cpuSecondsOf(gateway.pid) - before) / requests) * 1000 };
    };

    const withKey = await measure(() => time(nextUrl(gateway.port), 200, { "X-API-KEY": built.key }));
    const offer = await measure(() => time(nextUrl(payPort), 402, {}));
    const signed: { url: string; header: string }[] = [];
    for (let at = 0; at < WARM_UP + requests; at += 1) {
      const url = nextUrl(payPort);
      signed.push({ url, header: encodePaymentSignatureHeader(await signFor(payer, url)) });
    }
    const paid = await measure((at) => {
      const { url, header } = signed[at] as (typeof signed)[number];
      return time(url, 200, { "PAYMENT-SIGNATURE": header });
    });
    return { withKey, offer, paid, settlementMs: await readSettlementMs(gateway.adminPort) };
  } finally {
    await Promise.all([gateway.stop(), end(facilitator)]);
    await Promise.all([upstream.stop(), chain.stop()]);
  }
}

/** The mean of the gateway's own histogram. */
async function readSettlementMs(port: number): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  const numberAt = (name: string) =>
    Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)`, "m").exec(text)?.[1]);
  const name = "gateway_payment_settlement_seconds";
  return (numberAt(`${name}_sum`) / numberAt(`${name}_count`)) * 1000;
}
