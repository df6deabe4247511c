import { createServer } from "node:http";
import { expect } from "chai";
import { describe, it } from "mocha";
import { closeHttpServer, listen } from "../http/server.ts";
import type { StoreSize } from "../storage/port.ts";
import { createIngestMetrics, serveMetrics } from "./metrics.ts";

async function findFreePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server, { host: "127.0.0.1", port: 0 });
  await closeHttpServer(server, { timeoutMs: 0 });
  return port;
}

const PORT_IN_USE = /Cannot listen for HTTP on 127\.0\.0\.1:\d+: the port is in use/;

describe("an ingest's metrics", () => {
  it("count requests, calls and faults of endpoints, and how far behind the head the store is", async () => {
    const metrics = createIngestMetrics({ name: "some-ingest" });
    const chain = metrics.chain(8453);
    const request = { kind: "request", host: "rpc.test", ms: 40 } as const;
    chain.onEvent({ ...request, method: "eth_call", calls: 3, ok: true });
    chain.onEvent({ ...request, method: "eth_call", calls: 2, ok: false });
    chain.onEvent({
      kind: "fault",
      host: "rpc.test",
      fault: "rate",
      method: "eth_call",
      message: "slow down",
    });
    chain.setHead({ number: 110, timestamp: 1_020 });
    chain.setIndexedBlock({ number: 100, time: 1_000 });
    const text = await metrics.render();
    const labels = 'chain="8453",host="rpc.test"';
    const service = 'service="some-ingest"';
    expect(text).to.contain(`rpc_calls_total{${labels},method="eth_call",${service}} 5`);
    expect(text).to.contain(
      `rpc_request_duration_seconds_count{${service},${labels},method="eth_call",ok="true"} 1`,
    );
    expect(text).to.contain(`rpc_faults_total{${labels},fault="rate",${service}} 1`);
    expect(text).to.contain(`ingest_chain_head_block{chain="8453",${service}} 110`);
    expect(text).to.contain(`ingest_indexed_block{chain="8453",${service}} 100`);
    expect(text).to.contain(`ingest_lag_seconds{chain="8453",${service}} 20`);
    chain.setIndexedBlock({ number: 110, time: 1_020 });
    expect(await metrics.render()).to.contain(`ingest_lag_seconds{chain="8453",${service}} 0`);
  });

  it("show progress and failure, and forward the same to an observer", async () => {
    const metrics = createIngestMetrics({ name: "some-ingest" });
    const received: unknown[] = [];
    metrics.observe(8453, {
      onEvent: (event) => received.push(event.kind),
      setHead: (head) => received.push(head),
      setIndexedBlock: (block) => received.push(block),
    });
    const chain = metrics.chain(8453);
    metrics.chain(1).setHead({ number: 5 });
    chain.onEvent({ kind: "circuit", host: "rpc.test", open: true });
    chain.setHead({ number: 110, timestamp: 1_020 });
    chain.setIndexedBlock({ number: 100, time: 1_000, events: 7 });
    expect(received).to.deep.equal([
      "circuit",
      { number: 110, timestamp: 1_020 },
      { number: 100, time: 1_000, events: 7 },
    ]);
    const gauges = metrics.progress(8453);
    gauges.showProgress({ share: 0.25, etaSeconds: undefined, isFailing: true, history: undefined });
    const text = await metrics.render();
    const labels = 'chain="8453",service="some-ingest"';
    expect(text).to.contain(`ingest_progress_share{${labels}} 0.25`);
    expect(text).to.contain(`ingest_eta_seconds{${labels}} Nan`);
    expect(text).to.contain(`ingest_failing{${labels}} 1`);
    expect(text).to.contain(`ingest_history_eta_seconds{${labels}} 0`);
    const history = { coveredFrom: 1_760_000_000, since: 1_750_000_000, etaSeconds: 3_600 };
    gauges.showProgress({ share: 1, etaSeconds: 0, isFailing: false, history });
    const growing = await metrics.render();
    expect(growing).to.contain(`ingest_history_from_seconds{${labels}} 1760000000`);
    expect(growing).to.contain(`ingest_history_eta_seconds{${labels}} 3600`);
  });

  it("show who leads, and forget the chain when another does", async () => {
    const metrics = createIngestMetrics({ name: "some-ingest" });
    const show = metrics.leadership("some-ingest-8453", 8453);
    const chain = metrics.chain(8453);
    show(7);
    chain.setHead({ number: 110, timestamp: 1_020 });
    chain.setIndexedBlock({ number: 100, time: 1_000 });
    chain.setRetentionFinished(900);
    const labels = 'lease="some-ingest-8453",service="some-ingest"';
    const leading = await metrics.render();
    expect(leading).to.contain(`ingest_leader{${labels}} 1`);
    expect(leading).to.contain(`ingest_lease_token{${labels}} 7`);
    expect(leading).to.contain('ingest_retention_finished_seconds{chain="8453",service="some-ingest"} 900');
    show(undefined);
    const waiting = await metrics.render();
    expect(waiting).to.contain(`ingest_leader{${labels}} 0`);
    expect(waiting.split("\n").filter((line) => line.includes('chain="8453"'))).to.deep.equal([]);
  });

  it("show the size of the store, and nothing where it does not answer", async () => {
    const metrics = createIngestMetrics({ name: "some-ingest" });
    let size = async (): Promise<StoreSize> => ({ storedBytes: 5_000, freeBytes: 70_000 });
    metrics.measureStore({ size: () => size() });
    const text = await metrics.render();
    expect(text)
      .to.match(/^store_bytes\{.*\} 5000$/m)
      .and.match(/^store_free_bytes\{.*\} 70000$/m);
    size = () => Promise.reject(new Error("the store is away"));
    expect(await metrics.render()).not.to.match(/^store_(free_)?bytes/m);
  });

  it("are served on a port of their own, or nowhere", async () => {
    const metrics = createIngestMetrics({ name: "some-ingest" });
    await (await serveMetrics(metrics, { host: "127.0.0.1", port: 0 }))();
    const port = await findFreePort();
    const stop = await serveMetrics(metrics, { host: "127.0.0.1", port });
    const request = (path: string, method = "GET") => fetch(`http://127.0.0.1:${port}${path}`, { method });
    const answer = await request("/metrics");
    expect(answer.headers.get("content-type")).to.equal(metrics.contentType);
    expect(await answer.text())
      .to.contain("process_cpu_seconds_total")
      .and.contain('service="some-ingest"');
    expect(await (await request("/livez")).text()).to.equal('{"status":"ok"}');
    expect((await request("/")).status).to.equal(404);
    expect((await request("/metrics", "POST")).status).to.equal(404);
    const taken = await serveMetrics(metrics, { host: "127.0.0.1", port }).catch((error: Error) => error);
    expect(String(taken)).to.match(PORT_IN_USE);
    await stop();
  });
});
