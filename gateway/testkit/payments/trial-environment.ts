import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runProgram, startProgram, type TestProcess } from "../../../services/shared/testkit/process.ts";
import { openStoredLedger } from "../../payments/ledger/open-ledger.ts";
import { systemClock as clock } from "../../request/clock.ts";
import { until } from "../until.ts";
import { answerError, answerTableOf, startFakeUpstream } from "../upstream.ts";
import { type ProxyResponse, startFacilitatorProxy } from "./facilitator-proxy.ts";
import type { Payer } from "./payer.ts";
import { PAID_PATH, PAID_QUERY, startPaymentEnvironment } from "./payment-gateway.ts";

/** A gateway and a facilitator in processes of their own, a chain, a service, and what goes wrong with each. */
export interface TrialEnvironment {
  createPayers(count: number, amount: bigint): Promise<Payer[]>;
  balanceOf(payer: Payer): Promise<bigint>;
  /** The address that is sold for a trial. */
  urlOf(index: number): string;
  /** Bytes of the table of a trial. */
  readonly sizes: Map<number, number>;
  /** Trials whose service fails. */
  readonly brokenServices: Set<number>;
  /** What the facilitator does to a payer, by address in lower case. */
  readonly faults: Map<string, string>;
  /** Makes the gateway's node fail for a while. */
  breakRpc(ms: number): void;
  /** Kills the gateway and starts another one over the same store and at the same address. */
  kill(): Promise<void>;
  /** When gateways were killed (monotonic milliseconds). */
  readonly kills: readonly number[];
  /** Payments of a payer that the ledger lists as owed. */
  owedTo(payer: Payer, index: number): Promise<number>;
  /** Resolves when a gateway is there. */
  ready(): Promise<void>;
  /** All owed payments, as `npm run payments -- list --state owed --json` lists them. */
  listOwed(): Promise<readonly { payer: string }[]>;
  received(): Promise<bigint>;
  stop(): Promise<void>;
}

const MAX_MINTED = 40;

export async function startTrialEnvironment(): Promise<TrialEnvironment> {
  const folder = await mkdtemp(join(tmpdir(), "payment-trials-"));
  const world = await startPaymentEnvironment({ ownProcess: true });
  const rpc = await startFacilitatorProxy(world.chain.url);
  const service = await startFakeUpstream();
  const sizes = new Map<number, number>();
  const brokenServices = new Set<number>();
  const faults = new Map<string, string>();
  let brokenUntilMs = 0;
  let port = 0;
  const kills: number[] = [];
  let gateway: TestProcess;
  let restarting: Promise<void> | undefined;

  service.answer = (req, res) => {
    const index = Number(new URL(req.url ?? "", "http://x").searchParams.get("offset"));
    if (!brokenServices.has(index)) return answerTableOf(sizes.get(index) ?? 0)(req, res);
    if (index % 2 === 0) return answerError(500, "internal")(req, res);
    res.writeHead(200, { "Content-Type": "application/json", "Content-Length": "100000" });
    res.write("[");
    setTimeout(() => res.destroy(), 20);
    return undefined;
  };
  for (const path of ["/verify", "/settle"]) {
    world.facilitatorProxy.overrides[path] = (pass, body) => {
      const { paymentPayload } = body as { paymentPayload: { payload: { authorization: { from: string } } } };
      const { from } = paymentPayload.payload.authorization;
      return behaveWith(faults.get(from.toLowerCase()), path, pass);
    };
  }
  rpc.overrides["/"] = async (pass) =>
    performance.now() < brokenUntilMs ? { status: 502, body: { error: "away" } } : pass();

  const start = async (): Promise<void> => {
    gateway = startProgram("gateway/main.ts", {
      env: {
        ...{ GATEWAY_PORT: "0", DATA_DIR: folder, X402_PORT: String(port), X402_PAY_TO: world.payTo },
        ...{ EVM_DEX_URL: service.url, EVM_DEX_GRPC: service.grpc },
        ...{ LENDING_URL: service.url, LENDING_GRPC: service.grpc },
        ...{ SOLANA_URL: service.url, SOLANA_GRPC: service.grpc },
        ...{ EVM_RPC_8453: rpc.url, X402_FACILITATOR_URL: world.facilitatorProxy.url },
        ...{
          X402_SETTLE_TIMEOUT_MS: "2000",
          DEADLINE_MS: "8000",
          VERIFY_RATE: "1000000",
          VERIFY_BURST: "1000000",
        },
        ...{ ADDRESS_RATE: "1000000", ADDRESS_BURST: "1000000", RESPONSE_CACHE_MB: "0" },
      },
    });
    await until(() => gateway.stdout().includes('"selling requests"'));
    const line = gateway
      .stdout()
      .split("\n")
      .find((text) => text.includes('"selling requests"'));
    port = Number(new URL(JSON.parse(line ?? "").url).port);
  };
  const restart = async (): Promise<void> => {
    kills.push(performance.now());
    gateway.signal("SIGKILL");
    await gateway.finished;
    await start();
  };
  const list = async (...args: string[]) => {
    const { stdout } = await runProgram("gateway/cli/payments.ts", {
      args: ["list", "--json", "--limit", "10000", ...args],
      env: {
        DATA_DIR: folder,
      },
    });
    return JSON.parse(stdout) as { payer: string }[];
  };
  await start();
  const { ledger, close } = await openStoredLedger({ dataDir: folder }, { clock, answersKeptMs: 0 });
  const urlOf = (index: number) => `http://127.0.0.1:${port}${PAID_PATH}?${PAID_QUERY}&offset=${index}`;

  return {
    sizes,
    brokenServices,
    faults,
    async createPayers(count, amount) {
      const payers: Payer[] = [];
      // All of a call are minted in one block.
      while (payers.length < count)
        payers.push(...(await world.createPayers(Math.min(MAX_MINTED, count - payers.length), amount)));
      return payers;
    },
    balanceOf: ({ address }) => world.chain.balanceOf(address),
    urlOf,
    ready: async () => restarting,
    breakRpc: (ms) => {
      brokenUntilMs = performance.now() + ms;
    },
    async kill() {
      restarting ??= restart().finally(() => {
        restarting = undefined;
      });
      await restarting;
    },
    kills,
    async owedTo({ address }, index) {
      const rows = await ledger.findOwed(address.toLowerCase(), urlOf(index));
      return rows.filter(({ state }) => state === "settled").length;
    },
    listOwed: () => list("--state", "owed"),
    received: world.received,
    async stop() {
      await restarting;
      await close();
      gateway.signal("SIGKILL");
      await gateway.finished;
      await rpc.stop();
      await service.stop();
      await world.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** How a facilitator behaves to a payer with this fault. */
async function behaveWith(
  fault: string | undefined,
  path: string,
  pass: () => Promise<ProxyResponse>,
): Promise<ProxyResponse | "never"> {
  if (path === "/verify") return fault === "verify fails" ? { status: 500, body: {} } : pass();
  if (fault === "settle late") {
    await sleep(2_500);
    return pass();
  }
  const answer = fault === "settle unanswered" || fault === "settle denied" ? await pass() : undefined;
  if (fault === "settle unanswered") return "never";
  if (fault === "settle denied")
    return { status: 200, body: { success: false, errorReason: "unexpected", transaction: "" } };
  return answer ?? pass();
}
