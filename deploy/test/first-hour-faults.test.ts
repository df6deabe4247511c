import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, it } from "mocha";
import { describeThorough } from "../../services/shared/testkit/describe.ts";
import { run, signalGroup, type } from "./screen.ts";

const EXIT_CONFIG = 78;
/** A port without a listener. */
const DEAD = "http://user:secret-password@127.0.0.1:9/v3/secret-key";
const STOP_MS = 3_000;
const START = "node -r ./deploy/node-version.cjs --import tsx deploy/all-in-one.ts";

describeThorough("the first hour: faults are reported at once", () => {
  let dataDir: string;
  let chain: Server;
  let silent: Server;
  /** What the chain answers to eth_chainId; undefined = it is not there. */
  let chainId: string | undefined;

  const urlOf = (server: Server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}/secret-key`;
  const listen = (server: Server) =>
    new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const env = (more: Record<string, string | undefined> = {}) => ({
    DATA_DIR: dataDir,
    GATEWAY_PORT: "0",
    X402_PORT: "0",
    ...more,
  });

  before(async () => {
    dataDir = await mkdtemp(join(tmpdir(), "chaintables-first-hour-"));
    chain = createHttpServer((req, res) => {
      if (chainId === undefined) return void req.destroy();
      let body = "";
      req.on("data", (part) => {
        body += part;
      });
      req.on("end", () => {
        const request = JSON.parse(body);
        const answers = [request].flat().map(({ id, method }) => ({
          ...{ jsonrpc: "2.0", id },
          ...(method === "eth_chainId"
            ? { result: chainId }
            : { error: { code: -32000, message: "syncing" } }),
        }));
        res.end(JSON.stringify(Array.isArray(request) ? answers : answers[0]));
      });
    });
    silent = createServer();
    await Promise.all([listen(chain), listen(silent)]);
  });
  after(async () => {
    (chain as ReturnType<typeof createHttpServer>).closeAllConnections();
    chain.close();
    silent.close();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  });

  /** Every line of a start that is refused before anything is built. */
  async function refused(settings: Record<string, string | undefined>): Promise<string[]> {
    const { code, screen } = await run(START, env(settings));
    expect(code, screen.text()).to.equal(EXIT_CONFIG);
    expect(screen.text()).not.to.include("secret");
    const [head, ...problems] = screen.text().trimEnd().split("\n");
    expect(head).to.equal("chaintables cannot start:");
    return problems.map((line) => line.trim());
  }

  it("names six wrong settings in one go, a misspelt one with what was meant", async () => {
    const missing = join(dataDir, "nope.json");
    const problems = await refused({
      LOG_LEVEL: "loud",
      KEY_RATE: "abc",
      X402_PORT: "99999",
      EVM_RPC_8543: "https://node.example/secret-key",
      DEPLOYMENTS_FILE: missing,
      CURATORS_FILE: missing,
    });
    const enoent = `from ${missing}: ENOENT: no such file or directory`;
    expect(problems).to.have.members([
      'Cannot read KEY_RATE: it must be a number from 0.001 to 1000000 with at most 3 decimals, got "abc"',
      'Cannot read X402_PORT: it must be an integer from 0 to 65535, got "99999"',
      'Cannot read LOG_LEVEL: it must be one of trace, debug, info, warn, error, fatal, silent, got "loud"',
      "Unknown setting EVM_RPC_8543: chain 8543 is not known; did you mean EVM_RPC_8453?",
      `Cannot use DEPLOYMENTS_FILE: Cannot read deployments ${enoent}`,
      `Cannot use CURATORS_FILE: Cannot read curators ${enoent}`,
    ]);
  });

  it("names a folder that cannot be made, a port in use and an endpoint of another chain in one go", async () => {
    chainId = "0x1";
    const { port } = silent.address() as AddressInfo;
    const file = join(dataDir, "file");
    await writeFile(file, "");
    const problems = await refused({
      DATA_DIR: join(file, "below"),
      GATEWAY_PORT: String(port),
      EVM_RPC_8453: urlOf(chain),
    });
    const host = new URL(urlOf(chain)).host;
    expect(problems).to.have.members([
      `Cannot use DATA_DIR=${join(file, "below")}: a part of the path is not a folder.`,
      `Cannot use GATEWAY_PORT=${port} on 127.0.0.1: the port is in use. Another one is chosen by, for example, GATEWAY_PORT=${port + 1}.`,
      `${host} (EVM_RPC_8453) is not an endpoint of Base: its chain id is 1, not 8453.`,
    ]);
  });

  it("builds nothing before that", async () => {
    expect(await readdir(dataDir)).to.deep.equal(["file"]);
  });

  it("refuses a DATA_DIR in /proc at once, where making folders once hung", async function () {
    if (process.platform !== "linux") this.skip();
    expect(await refused({ DATA_DIR: "/proc/nope" })).to.deep.equal([
      "Cannot use DATA_DIR=/proc/nope: the folder cannot be made there.",
    ]);
  });

  it("repeats that an endpoint cannot be reached, reports when it is back, and ends within three seconds", async () => {
    chainId = undefined;
    const host = new URL(urlOf(chain)).host;
    const started = type(START, env({ EVM_RPC_8453: `${urlOf(chain)},${DEAD}`, SOLANA_RPC: urlOf(silent) }));
    try {
      await started.shows(/Ctrl-C stops everything/);
      const nothing = "Nothing new of Base is read until an endpoint answers; it is tried again and again.";
      for (const sentence of [
        `${host} (EVM_RPC_8453) cannot be reached: it breaks the connection off. ${nothing}`,
        `127.0.0.1:9 (EVM_RPC_8453) cannot be reached: the connection is refused. ${nothing}`,
        `${new URL(urlOf(silent)).host} (SOLANA_RPC) cannot be reached: no response within 3000 ms.`,
      ]) {
        // At once, and again as the last of the banner.
        expect(started.text().split(sentence).length, sentence).to.be.greaterThan(2);
        expect(started.text().indexOf(sentence)).to.be.lessThan(
          started.text().indexOf("chaintables answers"),
        );
      }
      chainId = "0x2105";
      await started.shows(new RegExp(`${host} answers now`));
      const askedMs = performance.now();
      started.ctrlC();
      expect(await started.ended).to.equal(0);
      expect(performance.now() - askedMs).to.be.lessThan(STOP_MS + 500);
      expect(started.text()).to.include("Stopping (Ctrl-C).");
      expect(started.text()).not.to.include("secret").and.not.to.match(/^\{/m);
    } finally {
      signalGroup(started.child, "SIGKILL");
    }
  });

  it("is a sentence of a single process where a person reads it, and JSON for a collector", async () => {
    chainId = "0x1";
    const command = "node --import tsx services/lending/ingest/main.ts";
    const settings = env({ EVM_RPC_8453: urlOf(chain) });
    const asText = await run(command, { ...settings, LOG_FORMAT: "text" });
    const sentence = "is not an endpoint of Base: its chain id is 1, not 8453.";
    expect(asText.code).to.equal(EXIT_CONFIG);
    expect(asText.screen.text()).to.match(
      /^lending-ingest cannot start:\n {2}127\.0\.0\.1:\d+ \(EVM_RPC_8453\) /,
    );
    expect(asText.screen.text()).to.include(sentence);
    const logged = await run(command, settings);
    expect(logged.code).to.equal(EXIT_CONFIG);
    const { level, problems } = JSON.parse(logged.screen.output());
    expect(level).to.equal("fatal");
    expect(problems).to.have.length(1);
    expect(problems[0]).to.include(sentence);
  });

  it("is every wrong setting of a single process", async () => {
    const { code, screen } = await run("node --import tsx gateway/main.ts", {
      ...env({ KEY_RATE: "abc", OTEL_TRACES_SAMPLER: "now", OTEL_EXPORTER_OTLP_ENDPOINT: "nowhere" }),
      ...{ EVM_DEX_URL: "http://a,http://b", SOLANA_PRC: "http://node.example", LOG_FORMAT: "text" },
    });
    expect(code).to.equal(EXIT_CONFIG);
    for (const name of ["KEY_RATE", "OTEL_TRACES_SAMPLER", "OTEL_EXPORTER_OTLP_ENDPOINT", "EVM_DEX_GRPC"])
      expect(screen.text()).to.include(`Cannot read ${name}: `);
    expect(screen.text()).to.include("Unknown setting SOLANA_PRC: did you mean SOLANA_RPC?");
  });

  it("is text in the lines of requests, too, where a person reads them", async () => {
    const started = type("node --import tsx gateway/main.ts", env({ LOG_FORMAT: "text" }));
    try {
      const [, url] = await started.shows(/info gateway: listening url=(http:\S+)/);
      await (await fetch(`${url}/evm/chains`)).body?.cancel();
      await started.shows(/info gateway: request .*status=401/);
      expect(started.text()).not.to.match(/^\{/m);
    } finally {
      signalGroup(started.child, "SIGKILL");
    }
  });
});
