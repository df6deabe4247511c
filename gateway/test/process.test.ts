import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeWithProcesses } from "../../services/shared/testkit/describe.ts";
import { runProgram, startProgram, type TestProcess } from "../../services/shared/testkit/process.ts";
import { until } from "../../services/shared/testkit/until.ts";
import { expectError } from "../testkit/expect-error.ts";
import { answerTable, type FakeUpstream, startFakeUpstream } from "../testkit/upstream.ts";

describeWithProcesses("gateway: as a process", () => {
  let services: readonly [FakeUpstream, FakeUpstream, FakeUpstream];
  let folder: string;
  let gateway: TestProcess;
  let url: string;

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "gateway-test-"));
    services = await Promise.all([startFakeUpstream(), startFakeUpstream(), startFakeUpstream()]);
    const [evmDex, lending, solana] = services;
    gateway = startProgram("gateway/main.ts", {
      env: {
        GATEWAY_PORT: "0",
        DATA_DIR: folder,
        BOOTSTRAP_API_KEY: "first key",
        DRAIN_DELAY_MS: "400",
        EVM_DEX_URL: evmDex.url,
        EVM_DEX_GRPC: evmDex.grpc,
        LENDING_URL: lending.url,
        LENDING_GRPC: lending.grpc,
        SOLANA_URL: solana.url,
        SOLANA_GRPC: solana.grpc,
      },
    });
    await until("a listening gateway", () => gateway.stdout().includes('"listening"'));
    const line =
      gateway
        .stdout()
        .split("\n")
        .find((text) => text.includes('"listening"')) ?? "";
    url = JSON.parse(line).url;
    await until("readiness", async () => (await fetch(`${url}/readyz`)).status === 200);
  });
  after(async () => {
    gateway.signal("SIGKILL");
    await gateway.finished;
    await Promise.all(services.map((service) => service.stop()));
    await rm(folder, { recursive: true, force: true });
  });

  const keys = (...args: string[]) => runProgram("gateway/cli/keys.ts", { args, env: { DATA_DIR: folder } });
  const get = (path: string, key: string) => fetch(`${url}${path}`, { headers: { "X-API-KEY": key } });

  it("accepts a key that the command creates and refuses it within ten seconds of its revocation", async () => {
    const created = await keys("create", "--label", "a client", "--scopes", "evm-dex", "--expires", "30d");
    expect(created.code, created.stderr).to.equal(0);
    const key = /ct_\S+/.exec(created.stdout)?.[0] ?? "";
    expect((await get("/evm/chains", key)).status).to.equal(200);
    await expectError(await get("/api/v1/solana/tokens", key), "forbidden");

    const listed = await keys("list", "--json");
    const [record] = JSON.parse(listed.stdout) as { id: string; label: string; state: string }[];
    expect(record).to.include({ label: "a client", state: "live" });
    expect(listed.stdout).not.to.contain(key);
    expect((await keys("list")).stdout).to.match(
      /ID +LABEL +STATE.*key_[0-9a-f]{16} +a client +live +evm-dex/s,
    );

    const revoked = await keys("revoke", record?.id ?? "");
    expect(revoked.code, revoked.stderr).to.equal(0);
    const deadline = Date.now() + 10_000;
    while ((await get("/evm/chains", key)).status === 200) {
      expect(Date.now()).to.be.lessThan(deadline);
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    await expectError(await get("/evm/chains", key), "unauthorized");
  });

  it("the command explains itself and exits with 2 when called wrongly", async () => {
    for (const args of [[], ["revoke", "key_nobody"]]) {
      const { code, stdout, stderr } = await keys(...args);
      expect(code, args.join(" ")).to.equal(2);
      expect(stderr).to.contain("Usage:");
      expect(stdout).to.equal("");
    }
    const help = await keys("--help");
    expect(help.code).to.equal(0);
    expect(help.stdout).to.contain("Usage:");
  });

  it("names the setting that is wrong and exits with the code that no supervisor retries", async () => {
    const wrong = startProgram("gateway/main.ts", {
      env: {
        GATEWAY_PORT: "http",
        LENDING_URL: "http://a,http://b",
        DATA_DIR: folder,
      },
    });
    const { code, stdout } = await wrong.finished;
    expect(code).to.equal(78);
    expect(stdout).to.contain("GATEWAY_PORT");
  });

  it("drains on SIGTERM: not ready first, then requests in flight end well, then exit 0", async () => {
    let release = () => {};
    services[0].answer = (req, res) => {
      release = () => answerTable(req, res);
    };
    const requestsBefore = services[0].seen.length;
    const inFlight = get("/evm/chains", "first key");
    await until("the request at the service", () => services[0].seen.length > requestsBefore);
    gateway.signal("SIGTERM");
    await until("draining", async () => (await fetch(`${url}/readyz`)).status === 503);
    const { status } = (await (await fetch(`${url}/readyz`)).json()) as { status: string };
    expect(status).to.equal("draining");
    expect((await get("/api/v1/solana/tokens", "first key")).status).to.equal(200);
    await until("a closed port", () =>
      fetch(`${url}/livez`).then(
        () => false,
        () => true,
      ),
    );
    release();
    const answer = await inFlight;
    expect(answer.status).to.equal(200);
    expect(answer.headers.get("connection")).to.equal("close");
    const { code, signal, stdout, stderr } = await gateway.finished;
    expect(code, `${signal}\n${stdout}\n${stderr}`).to.equal(0);
    expect(stdout).not.to.match(/ct_[A-Za-z0-9_-]{43}|first key/);
  });
});
