import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { installMulticall, MULTICALL3 } from "../../deploy/devnet/node/multicall.ts";
import { USDC } from "../../deploy/devnet/usdc/usdc.ts";
import { createLog } from "../../services/shared/logging/log.ts";
import { openSqliteStore } from "../../services/shared/storage/sqlite/store.ts";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { type Ledger, openLedger } from "../payments/ledger/ledger.ts";
import { createMemoryLocks } from "../payments/ledger/locks.ts";
import type { PaymentRecord } from "../payments/ledger/payment-record.ts";
import { createPaymentChain, type PaymentChain } from "../payments/settlement/chain.ts";
import { createJanitor } from "../payments/settlement/janitor.ts";
import { createSettlement } from "../payments/settlement/settlement.ts";
import { createManualClock } from "../testkit/clock.ts";
import { fetchWith, receiptOf, signFor } from "../testkit/payments/payer.ts";
import {
  type PayGateway,
  type PaymentEnvironment,
  startPayGateway,
  startPaymentEnvironment,
} from "../testkit/payments/payment-gateway.ts";
import { until } from "../testkit/until.ts";

const JUNK = 650;
/** Of every answer of the node. */
const SLOW_MS = 1_500;
/** Until a payment is old enough to be looked after, and between the end of a round and the next one. */
const WAITING_MS = 30_000 + 15_000;

describeThorough("gateway: open payments among many", () => {
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

  /** A slow node that counts its requests. */
  const startSlowNode = async (delayMs: number) => {
    const counted = { calls: 0 };
    const server = createServer(async (req, res) => {
      let body = "";
      for await (const chunk of req) body += chunk;
      const parsed = JSON.parse(body) as unknown;
      counted.calls += Array.isArray(parsed) ? parsed.length : 1;
      await sleep(delayMs);
      const headers = { "content-type": "application/json" };
      const answer = await fetch(world.chain.url, { method: "POST", body, headers });
      res.writeHead(answer.status, headers).end(await answer.text());
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, counted, server };
  };

  /** A payment that the chain has, as a gateway leaves it that died before it knew. */
  const payUnheard = async (): Promise<PaymentRecord> => {
    const payer = await world.createPayer();
    const url = gateway.urlOf(1);
    const fromBlock = Number(await world.chain.client.getBlockNumber());
    const payment = await signFor(payer, url);
    expect(receiptOf(await fetchWith(url, payment))?.success).to.equal(true);
    const { nonce } = payment.payload.authorization as { nonce: string };
    return recordOf({
      nonce,
      payer: payer.address.toLowerCase(),
      fromBlock,
      createdAt: Date.UTC(2026, 0, 1),
    });
  };
  const recordOf = (changes: Partial<PaymentRecord>): PaymentRecord =>
    ({
      ...{ state: "open", resource: "r", path: "/p", network: "eip155:8453", asset: USDC, amount: "50000" },
      ...{ payTo: world.payTo, identifier: null, payload: {}, requirements: {}, transaction: null },
      ...{ reason: null, session: "s", settledAt: null, deliveredAt: null, validBefore: 99_999_999_999 },
      ...{ fromBlock: 1, payer: `0x${"ab".repeat(20)}`, createdAt: Date.UTC(2026, 0, 1) - 1_000 },
      ...changes,
      key: `n:a:f:${changes.nonce}`,
    }) as PaymentRecord;

  const lookAfter = async (ledger: Ledger, chain: PaymentChain, honest: PaymentRecord) => {
    const clock = createManualClock();
    clock.advance(31_000);
    const log = createLog({ name: "test", level: "silent" });
    const settlement = createSettlement({ server: {} as never, chain, ledger, log, watchMs: 0 });
    const metrics = { setOpen() {} } as never;
    const locks = createMemoryLocks();
    const janitor = createJanitor({ ledger, locks, settlement, chain, metrics, clock, log });
    const startedMs = performance.now();
    janitor.start();
    await until(async () => (await ledger.find(honest.key))?.state !== "open");
    const passedMs = performance.now() - startedMs;
    await janitor.stop();
    return passedMs;
  };

  for (const hasMulticall of [true, false]) {
    it(`one that was settled is found within 80 s among ${JUNK} that stay open, with a slow node${hasMulticall ? "" : " without Multicall3"}`, async () => {
      if (!hasMulticall) await world.chain.anvil.rpc.call("anvil_setCode", [MULTICALL3, "0x"]);
      const { url, counted, server } = await startSlowNode(hasMulticall ? SLOW_MS : 100);
      const chain = createPaymentChain({ chainId: 8453, urls: [url] });
      const store = await openSqliteStore({ path: ":memory:" });
      const clock = createManualClock();
      const ledger = await openLedger(store, { clock, answersKeptMs: 1_000 });
      try {
        for (let at = 1; at <= JUNK; at += 1)
          await ledger.open(recordOf({ nonce: `0x${at.toString(16).padStart(64, "0")}` }));
        // Behind all of them, and one that has expired is void without a look-up of its own.
        const expired = recordOf({ nonce: `0x${"ee".repeat(32)}`, validBefore: 1 });
        await ledger.open(expired);
        const honest = await payUnheard();
        await ledger.open(honest);
        const passedMs = await lookAfter(ledger, chain, honest);
        expect(WAITING_MS + passedMs).to.be.below(80_000);
        expect((await ledger.find(honest.key))?.state).to.equal("settled");
        expect((await ledger.find(expired.key))?.state).to.equal("void");
        expect(await ledger.countOpen(Date.UTC(2027, 0, 1))).to.equal(JUNK);
        // The check of the chain, two calls for each hundred, and those that find one transaction.
        if (hasMulticall) expect(counted.calls).to.be.below(30);
      } finally {
        chain.close();
        server.close().closeAllConnections();
        await store.close();
        if (!hasMulticall) await installMulticall(world.chain.anvil.rpc);
      }
    });
  }
});
