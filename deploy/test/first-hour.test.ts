import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { describeRounds } from "../../services/shared/testkit/describe.ts";
import { run, type Screen, signalGroup, type } from "./screen.ts";

/** What a person waits after a Ctrl-C. */
const STOP_MS = 3_000;
/** Within which running gateways know a new key. */
const KEY_KNOWN_MS = 10_000;
const TRADES =
  "/api/v1/solana/token-transactions?token_address=So11111111111111111111111111111111111111112&days=1";

/** Too long for every npm test. */
const isWanted = process.env.FIRST_HOUR === "full";
/** It reads the local chains from their first block: two minutes more. */
const ROUNDS = 15;
const suite = isWanted ? describeRounds.bind(undefined, ROUNDS) : describe.skip;

suite("the first hour: npm start on the local chain (npm run test:first-hour)", () => {
  let dataDir: string;
  let server: Screen;
  let url: string;
  let payUrl: string;
  let key: string;
  const env = () => ({ DATA_DIR: dataDir });

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-first-hour-"));
    server = type("npm start", { ...env(), GATEWAY_PORT: "0" });
    await server.shows(/Ctrl-C stops everything/);
    url = (await server.shows(/chaintables answers on (http:\S+)/))[1] as string;
    payUrl = (await server.shows(/without a key {2}(http:\S+),/))[1] as string;
    key = (await server.shows(/API key {8}(\S+)/))[1] as string;
  });
  after(async () => {
    signalGroup(server.child, "SIGKILL");
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });

  const request = (path: string, apiKey = key) => fetch(url + path, { headers: { "X-API-KEY": apiKey } });

  it("shows sentences: no JSON, no warning, no stack", async () => {
    // npm's own lines are about npm's own settings.
    const shown = server.text().replace(/^npm .*$/gm, "");
    expect(shown).to.include("No RPC endpoint is configured: starting a local chain");
    expect(shown).to.match(/^devnet: Filled 192\.0 hours of history with \d+ blocks\.$/m);
    const isTrouble = (line: string) => /^\{|^ +at |\b(warn|warning|error|fatal|cannot)\b/i.test(line);
    expect(shown.split("\n").filter(isTrouble)).to.deep.equal([]);
  });

  it("prints addresses that respond", async () => {
    for (const [name, type] of [
      ["documentation", "text/html"],
      ["OpenAPI", "application/json"],
      ["state", "application/json"],
    ] as const) {
      const [, address = ""] = await server.shows(new RegExp(`^ {2}${name} +(http:\\S+)$`, "m"));
      const answer = await fetch(address);
      expect(answer.status, address).to.equal(200);
      expect(answer.headers.get("content-type"), address).to.include(type);
      await answer.body?.cancel();
    }
  });

  it("prints lines to try that return rows", async () => {
    const lines = [...server.text().matchAll(/^ {2}curl -s -H 'X-API-KEY: (\S+)' 'http:\/\/[^/]+(\S+)'$/gm)];
    expect(lines).to.have.length(4);
    for (const [, printedKey = "", path = ""] of lines) {
      let rows: unknown[] = [];
      // Lists fill while the week of history is indexed.
      for (const endMs = Date.now() + 60_000; rows.length === 0 && Date.now() < endMs; await sleep(250)) {
        const answer = await request(path, printedKey);
        const body = await answer.json();
        rows = answer.status === 200 ? (Array.isArray(body) ? body[0] : body).data : [];
      }
      expect(rows, path).not.to.deep.equal([]);
    }
  });

  it("accepts a key within ten seconds after npm run keys has made it", async () => {
    const { code, screen } = await run("npm run --silent keys -- create --label mine", env());
    expect(code, screen.text()).to.equal(0);
    expect(screen.text()).to.include(
      `This is the store of the npm start that runs, with its local chain: ${join(dataDir, "local")}.`,
    );
    const made = /^ {2}(ct_\S+)$/m.exec(screen.output())?.[1] as string;
    const sinceMs = Date.now();
    let status = 0;
    while (status !== 200 && Date.now() - sinceMs < KEY_KNOWN_MS) {
      status = (await request("/evm/chains", made)).status;
      if (status !== 200) await sleep(250);
    }
    expect(status).to.equal(200);
    const { screen: list } = await run("npm run --silent keys -- list --json", env());
    expect(list.output()).to.include('"mine"');
  });

  it("sells a response for USDC of its chain, and npm run payments lists it", async () => {
    const paid = await run(`npm run --silent pay -- ${TRADES} --url ${payUrl}`, env());
    expect(paid.code, paid.screen.text()).to.equal(0);
    // Without --url it finds the host that this npm start has opened.
    const again = await run(`npm run --silent pay -- ${TRADES} --json`, env());
    expect(again.code, again.screen.text()).to.equal(0);
    const { code, screen } = await run("npm run --silent payments -- list --json", env());
    expect(code, screen.text()).to.equal(0);
    expect(screen.output().match(/"settled"/g)).to.have.length(2);
  });

  it("is audited against its own chain without a setting", async () => {
    const { code, screen } = await run("npm run --silent audit -- --chain 8453 --pools 2 --seed 1", env());
    expect(code, screen.text()).to.equal(0);
    expect(screen.output()).to.match(/values of 2 pools: 0 differ/);
  });

  it("ends within three seconds of a Ctrl-C, in one sentence, and leaves nothing behind", async () => {
    const before = server.text().length;
    const askedMs = performance.now();
    server.ctrlC();
    expect(await server.ended).to.be.oneOf([0, 130]);
    expect(performance.now() - askedMs).to.be.lessThan(STOP_MS + 500);
    const said = server.text().slice(before).trim().split("\n");
    expect(said.filter((line) => !/[█░]/.test(line)).join("\n")).to.equal("Stopping (Ctrl-C).");
    expect(await fetch(url).catch(() => "refused")).to.equal("refused");
    const { screen } = await run("ps -eo args");
    expect(screen.output()).not.to.include(dataDir);
  });

  it("says that the chain does not run, and still finds its store", async () => {
    const audit = await run("npm run --silent audit -- --chain 8453", env());
    expect(audit.code).to.equal(2);
    expect(audit.screen.text()).to.include("The local chain does not run: start it with npm start");
    const { screen } = await run("npm run --silent keys -- list", env());
    expect(screen.text()).to.include("mine").and.include("the store of the last npm start");
  });

  it("continues where it stopped, with the same keys", async () => {
    server = type("npm start", { ...env(), GATEWAY_PORT: "0" });
    await server.shows(/Ctrl-C stops everything/);
    expect((await server.shows(/API key {8}(\S+)/))[1]).to.equal(key);
    expect(server.text()).not.to.include("Filled");
  });

  it("leaves nothing behind when npm is killed", async () => {
    process.kill(server.child.pid as number, "SIGKILL");
    let left = dataDir;
    for (const endMs = Date.now() + 10_000; left.includes(dataDir) && Date.now() < endMs; await sleep(250))
      left = (await run("ps -eo args")).screen.output();
    expect(left).not.to.include(dataDir);
  });
});
