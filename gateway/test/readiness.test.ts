import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { ChainStatus } from "../../services/shared/grpc/types.ts";
import { startTestGateway, type TestGateway } from "../testkit/gateway.ts";
import { until } from "../testkit/until.ts";
import { answerError } from "../testkit/upstream.ts";

const BASE = { chainId: 8453, name: "Base", indexedBlockHash: null, fromBlock: null, lagBlocks: null };
const UNREAD = { ...BASE, indexedBlock: null, indexedTime: null, chainHead: 5_000 };
const HISTORY = { historyFrom: null, historySince: null, historyEtaSeconds: null };
const QUIET = { share: null, etaSeconds: null, why: null, since: null, ...HISTORY };
const FIRST_READ: ChainStatus = { ...UNREAD, ...QUIET, state: "first_read", share: 0.345, etaSeconds: 130 };
const NO_SOURCE: ChainStatus = {
  ...UNREAD,
  ...QUIET,
  chainId: 1,
  name: "Ethereum",
  chainHead: null,
  state: "no_source",
};
const SERVING: ChainStatus = { ...UNREAD, ...QUIET, state: "serving", indexedBlock: 4_990, indexedTime: 0 };

describe("gateway: /readyz and the chains of services", () => {
  let gateway: TestGateway;
  beforeEach(async () => {
    gateway = await startTestGateway();
  });
  afterEach(() => gateway.stop());

  const readyz = async (search = "") => {
    const answer = await fetch(`${gateway.url}/readyz${search}`);
    const { status, services } = (await answer.json()) as {
      status: string;
      services: Record<string, { ready: boolean; chains: Record<string, Record<string, unknown>> }>;
    };
    return { code: answer.status, status, services };
  };
  /** Ready, and not for want of a report of evm-dex: services report one after another. */
  const isReadyWithChains = async (): Promise<boolean> => {
    const { code, services } = await readyz();
    return code === 200 && services["evm-dex"]?.chains !== undefined;
  };
  /** Not ready for the chains of lending, not for want of a report: then the other services are ready. */
  const waitsForLending = async (): Promise<boolean> => {
    const { code, services } = await readyz();
    const ready = Object.entries(services).filter(([, { ready }]) => ready);
    return code === 503 && ready.length === 2 && services.lending?.chains?.["8453"] !== undefined;
  };

  it("is not ready while a first read is under way, and reports its progress", async () => {
    gateway.lending.chains = [FIRST_READ];
    await until(waitsForLending);
    const { status, services } = await readyz();
    expect(status).to.equal("not_ready");
    expect(services.lending).to.include({ ready: false });
    expect(services.lending?.chains["8453"]).to.deep.equal({
      ...{ name: "Base", state: "first_read", share: 0.345, etaSeconds: 130, head: 5_000 },
    });
    expect(services["evm-dex"]).to.include({ ready: true });
    gateway.lending.chains = [{ ...SERVING, indexedTime: Math.floor(Date.now() / 1_000) - 40 }];
    await until(async () => (await readyz()).code === 200);
    const served = (await readyz()).services.lending?.chains["8453"];
    expect(served).to.include({ state: "serving", block: 4_990 });
    expect(served?.lagSeconds).to.be.within(40, 45);
  });

  it("shows how far history has grown, and is ready meanwhile", async () => {
    const history = { historyFrom: 1_760_000_000, historySince: 1_750_000_000, historyEtaSeconds: 90 };
    gateway.evmDex.chains = [{ ...SERVING, ...history }];
    await until(async () => (await readyz()).services["evm-dex"]?.chains?.["8453"]?.history !== undefined);
    await until(isReadyWithChains);
    const { services } = await readyz();
    expect(services["evm-dex"]?.chains["8453"]?.history).to.deep.equal({
      ...{ from: "2025-10-09T08:53:20Z", since: "2025-06-15T15:06:40Z", etaSeconds: 90 },
    });
  });

  it("keeps passing requests meanwhile, and stays in rotation behind a load balancer", async () => {
    gateway.lending.chains = [FIRST_READ];
    await until(waitsForLending);
    const probed = await readyz("?exclude=data");
    expect([probed.code, probed.status]).to.deep.equal([200, "ready"]);
    expect(probed.services.lending?.chains["8453"], "it is shown all the same").to.include({
      state: "first_read",
    });
    expect((await gateway.get("/evm/chains")).status).to.equal(200);
    gateway.lending.answer = answerError(503, "unavailable", "34 % done");
    // A service that refuses has not failed: its other tables stay available.
    for (let i = 0; i < 20; i++)
      expect((await gateway.get("/evm/lending/lendinga/v3/pools")).status).to.equal(503);
    expect((await readyz("?exclude=data")).code).to.equal(200);
    await gateway.solana.stop();
    await until(async () => (await readyz("?exclude=data")).code === 503);
  });

  it("waits for no chain that is not configured", async () => {
    gateway.evmDex.chains = [NO_SOURCE, { ...SERVING, indexedTime: 1 }];
    await until(isReadyWithChains);
    const { services } = await readyz();
    expect(services["evm-dex"]?.chains["1"]).to.deep.equal({ name: "Ethereum", state: "no_source" });
  });

  it("names a failure and its reason: not ready without data, ready with what was read before", async () => {
    const failure = {
      state: "failing",
      why: "No RPC endpoint can be used: rpc.test",
      since: 1_700_000_000,
    } as const;
    const solana = async () => (await readyz()).services.solana?.chains?.solana;
    gateway.solana.chains = [{ ...UNREAD, ...QUIET, ...failure, chainId: 0, name: "Solana" }];
    // 503 alone is too little: services that have not reported yet are not ready either.
    await until(async () => (await solana())?.state === "failing");
    expect((await readyz()).code).to.equal(503);
    const shown = await solana();
    expect(shown).to.include({ state: "failing", why: failure.why, since: "2023-11-14T22:13:20Z" });
    gateway.solana.chains = [{ ...SERVING, ...QUIET, ...failure, chainId: 0, name: "Solana" }];
    await until(async () => (await readyz()).code === 200);
    expect(await solana()).to.include({ state: "failing", block: 4_990 });
  });

  it("trusts a service of an older version that reports that it serves", async () => {
    gateway.evmDex.chains = [{ ...UNREAD, ...QUIET, state: "unknown" }];
    await until(isReadyWithChains);
  });

  it("shows no access-log error for tables that are being read", async () => {
    gateway.lending.answer = answerError(503, "unavailable", "34 % done");
    await gateway.get("/evm/lending/lendinga/v3/pools");
    await until(() => gateway.lines.some(({ msg, status }) => msg === "request" && status === 503));
    const line = gateway.lines.find(({ msg, status }) => msg === "request" && status === 503);
    expect(line).to.include({ level: "info", code: "unavailable" });
  });
});
