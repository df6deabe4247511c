import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import type { Endpoint } from "../contract/endpoint.ts";
import { deriveCases } from "../contract/testkit/test-cases.ts";
import { createHealthClient } from "../grpc/client.ts";
import { type IngestStatusRow, ingestStatus } from "../ingest-status/status-row.ts";
import { statusRow } from "../ingest-status/testkit/status-row.ts";
import type { Collection } from "../storage/collection.ts";
import { openStore } from "../storage/open.ts";
import { put, type Store } from "../storage/port.ts";
import { describeWithProcesses } from "./describe.ts";
import { bodyOf, until } from "./fixture.ts";
import type { TestProcess } from "./process.ts";
import { type ServiceProcess, startIngestProcess, startServiceProcess } from "./service-process.ts";

export interface ReadingSuite {
  readonly name: string;
  /** The service's main.ts and its ingest's. */
  readonly entry: URL;
  readonly ingest: URL;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly endpoints: readonly Endpoint[];
  /** Paths of tables that need nothing of a chain. */
  readonly withoutChain?: readonly string[];
  readonly chainId: number;
  /** The variable that names its endpoints. */
  readonly setting: string;
  /** What messages are about. */
  readonly subject: string;
  readonly collections: readonly Collection[];
  /** Stores what an ingest's first read leaves: rows of a block, and the checkpoint. */
  fill(store: Store): Promise<void>;
}

/** No secret of a URL may get into a row, an answer or a message. */
const SECRET = "v2-4f1c0ffee9d2b7a6";

/** What a service says of the reading of its chain, in its own process over a store that an ingest writes to. */
export function describeReading(suite: ReadingSuite): void {
  describeWithProcesses(`${suite.name} and what its ingest says`, () => {
    const { chainId } = suite;
    const tables = suite.endpoints.filter(({ path }) => suite.withoutChain?.includes(path) !== true);
    let dataDir: string;
    let store: Store;
    let service: ServiceProcess;
    before(async () => {
      dataDir = await mkdtemp(join(tmpdir(), `chaintables-reading-${suite.name}-`));
      store = await openStore({ service: suite.name, dataDir });
      await store.declare([...suite.collections, ingestStatus]);
      service = await startServiceProcess(suite.entry, { ...suite.env, DATA_DIR: dataDir });
    });
    after(async () => {
      await service?.stop("SIGKILL");
      await store?.close();
      if (dataDir !== undefined) await rm(dataDir, { recursive: true, force: true });
    });

    const say = (row: Partial<IngestStatusRow>) =>
      store.write([put(ingestStatus, [statusRow({ chainId, ...row })])]);
    const shown = async () => {
      const ready = await fetch(`${service.httpUrl}/readyz`);
      expect(ready.status, "the process answers, whatever it has").to.equal(200);
      return (await bodyOf(ready)).chains[chainId === 0 ? "solana" : String(chainId)];
    };
    const untilShown = (state: string, why = "") =>
      until(async () => {
        const chain = await shown();
        return chain.state === state && (chain.why ?? "").includes(why);
      });
    /** Every table refuses; returns the message and the seconds of one. */
    const refusal = async (): Promise<{ message: string; retryAfter: number }> => {
      let last = { message: "", retryAfter: 0 };
      for (const { path } of tables) {
        const endpoint = tables.find((each) => each.path === path) as Endpoint;
        const answer = await fetch(`${service.httpUrl}${path}?${deriveCases(endpoint)[0]?.query ?? ""}`);
        const body = await bodyOf(answer);
        expect([answer.status, body.error], path).to.deep.equal([503, "unavailable"]);
        expect(answer.headers.get("x-data-block"), path).to.equal(null);
        expect(answer.headers.get("etag"), path).to.equal(null);
        last = { message: body.message, retryAfter: Number(answer.headers.get("retry-after")) };
      }
      return last;
    };

    it("names a chain without a source, by the variable to set", async () => {
      expect(await shown()).to.include({ state: "no_source" });
      const { message, retryAfter } = await refusal();
      const chain = chainId === 0 ? "Solana" : `chain ${chainId}`;
      expect(message).to.equal(`No source is configured for ${chain} (${suite.setting}).`);
      expect(retryAfter).to.equal(60);
    });

    it("shows a first read with its share and the time left, and refuses every table meanwhile", async () => {
      await say({ state: "discovering", share: 0.345, etaSeconds: 42 });
      await untilShown("first_read");
      expect(await shown()).to.include({ state: "first_read", share: 0.345, etaSeconds: 42 });
      const { message, retryAfter } = await refusal();
      expect(message).to.equal(
        `${suite.subject} are being read for the first time: 34 % done, about 42 s left. Try again in 42 s.`,
      );
      expect(retryAfter).to.equal(42);
    });

    it("stays healthy for its gateway while a first read is under way", async () => {
      const health = createHealthClient(service.grpcAddress);
      expect(await health.check()).to.equal("serving");
      health.close();
    });

    it("says why reading fails, and since when", async () => {
      const why = "No RPC endpoint can be used: rpc.example.org (connect ECONNREFUSED)";
      await say({ state: "failing", why, sinceMs: Date.UTC(2026, 10, 23, 4, 5, 6) });
      await untilShown("failing");
      expect(await shown()).to.include({ why, since: "2026-11-23T04:05:06Z" });
      expect((await refusal()).message)
        .to.contain("have not been read yet")
        .and.not.to.contain("rpc.example.org");
    });

    it("serves what was read once, also while the ingest fails, and says how old it is", async () => {
      await suite.fill(store);
      const [list] = tables.filter((endpoint) => endpoint.whenAbsent === "empty");
      const url = `${service.httpUrl}${list?.path}?${deriveCases(list as Endpoint)[0]?.query ?? ""}`;
      await until(async () => (await fetch(url)).status === 200);
      const answer = await fetch(url);
      expect(answer.headers.get("x-data-block")).to.match(/^\d+$/);
      expect(await shown()).to.include({ state: "failing" });
      await say({ state: "following", share: 1, etaSeconds: 0 });
      await untilShown("serving");
      const chain = await shown();
      expect(chain).to.have.property("block").that.is.a("number");
      expect(chain).to.have.property("lagSeconds").that.is.a("number");
      expect(chain).not.to.have.any.keys("share", "why");
    });

    it("ignores the reports of an ingest that has been silent for half a minute", async () => {
      const another = await mkdtemp(join(tmpdir(), `chaintables-silent-${suite.name}-`));
      const silent = await openStore({ service: suite.name, dataDir: another });
      await silent.declare([...suite.collections, ingestStatus]);
      const updatedAtMs = Date.UTC(2026, 0, 2, 3, 4, 5);
      await silent.write([put(ingestStatus, [statusRow({ chainId, state: "discovering", updatedAtMs })])]);
      await silent.close();
      const own = service;
      service = await startServiceProcess(suite.entry, { ...suite.env, DATA_DIR: another });
      try {
        const why = "No ingest has reported since 2026-01-02T03:04:05Z.";
        expect(await shown()).to.include({ state: "failing", why });
        expect((await refusal()).message).to.contain("have not been read yet");
      } finally {
        await service.stop("SIGKILL");
        service = own;
        await rm(another, { recursive: true, force: true });
      }
    });

    it("shows why the real ingest fails, without the key of its endpoint", async () => {
      const another = await mkdtemp(join(tmpdir(), `chaintables-failing-${suite.name}-`));
      const written = await openStore({ service: suite.name, dataDir: another });
      await written.declare([ingestStatus]);
      let ingest: TestProcess | undefined;
      try {
        // A port without a listener.
        const settings = { DATA_DIR: another, [suite.setting]: `http://127.0.0.1:1/${SECRET}` };
        ingest = startIngestProcess(suite.ingest, { ...suite.env, ...settings });
        let row: IngestStatusRow | undefined;
        await until(async () => {
          row = await written.get(ingestStatus, { chainId });
          return row?.state === "failing";
        });
        expect(row?.why).to.match(/^No RPC endpoint can be used: 127\.0\.0\.1:1\b/);
        expect(JSON.stringify(await written.find(ingestStatus, {}))).not.to.contain(SECRET);
      } finally {
        await ingest?.stop("SIGKILL");
        await written.close();
        await rm(another, { recursive: true, force: true });
      }
    });
  });
}
