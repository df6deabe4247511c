import { expect } from "chai";
import { describe, it } from "mocha";
import { integer, list, readEnv, url } from "./env.ts";
import { ConfigError, describeSettings, readServiceConfig, readSettings, SETTINGS } from "./settings.ts";

function problemsOf(read: () => unknown): readonly string[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
  return [];
}

describe("settings/settings", () => {
  it("fills defaults and counts an empty text as unset", () => {
    const settings = readSettings({ GATEWAY_PORT: " ", DATA_DIR: "" }, [
      "GATEWAY_PORT",
      "DATA_DIR",
      "MONGODB_URL",
    ]);
    expect(settings).to.deep.equal({ GATEWAY_PORT: 8080, DATA_DIR: "./data", MONGODB_URL: undefined });
  });

  it("splits lists and keeps the order of the URLs", () => {
    const { EVM_RPC_8453 } = readSettings({ EVM_RPC_8453: "https://a.example/k, wss://b.example" }, [
      "EVM_RPC_8453",
    ]);
    expect(EVM_RPC_8453).to.deep.equal(["https://a.example/k", "wss://b.example"]);
  });

  it("names every broken variable with its rule and value at once", () => {
    const env = { GATEWAY_PORT: "80a", LOG_LEVEL: "loud", START_BLOCK_1: "-5" };
    const problems = problemsOf(() => readSettings(env, ["GATEWAY_PORT", "LOG_LEVEL", "START_BLOCK_1"]));
    expect(problems).to.deep.equal([
      'Cannot read GATEWAY_PORT: it must be an integer from 0 to 65535, got "80a"',
      'Cannot read LOG_LEVEL: it must be one of trace, debug, info, warn, error, fatal, silent, got "loud"',
      `Cannot read START_BLOCK_1: it must be an integer from 0 to ${Number.MAX_SAFE_INTEGER}, got "-5"`,
    ]);
  });

  it("never shows the value of a secret", () => {
    const env = {
      MONGODB_URL: "http://user:hunter2@host/db",
      REDIS_URL: "hunter2",
      EVM_RPC_8453: "https://ok.example,ftp://hunter2",
      SOLANA_RPC: "hunter2,",
    };
    const problems = problemsOf(() =>
      readSettings(env, ["MONGODB_URL", "REDIS_URL", "EVM_RPC_8453", "SOLANA_RPC"]),
    );
    expect(problems).to.have.length(4);
    expect(problems.join("\n")).not.to.contain("hunter2");
    expect(problems[0]).to.contain("MONGODB_URL").and.contain("mongodb://");
  });

  it("marks every variable that can carry a credential as secret", () => {
    for (const name of [
      "BOOTSTRAP_API_KEY",
      "MONGODB_URL",
      "REDIS_URL",
      "EVM_RPC_8453",
      "EVM_RPC_1",
      "SOLANA_RPC",
      "SERVICE_TOKEN",
      "X402_FACILITATOR_TOKEN",
      "FACILITATOR_PRIVATE_KEY",
    ] as const) {
      expect(SETTINGS[name].secret, name).to.equal(true);
    }
  });

  it("refuses numbers that are not plain decimal digits, and lists with empty items", () => {
    const spec = { N: { parse: integer({ min: 0, max: 100 }), meaning: "", usedBy: [] } };
    for (const value of ["1e1", "0x10", "+5", "1.0", "101", "-1", "ten"]) {
      expect(
        problemsOf(() => readEnv({ N: value }, spec)),
        value,
      ).to.have.length(1);
    }
    const urls = { U: { parse: list(url(["http"])), meaning: "", usedBy: [] } };
    expect(problemsOf(() => readEnv({ U: "http://a," }, urls))).to.have.length(1);
  });

  it("accepts MongoDB URLs with several hosts", () => {
    const sent = "mongodb://a:27017,b:27017/db?replicaSet=rs";
    expect(readSettings({ MONGODB_URL: sent }, ["MONGODB_URL"]).MONGODB_URL).to.equal(sent);
  });

  it("gives each service its own default ports and lets 0 mean any free one", () => {
    expect(readServiceConfig("lending", {})).to.include({
      httpPort: 8102,
      grpcPort: 9102,
      deadlineMs: 10_000,
    });
    expect(readServiceConfig("solana", { HTTP_PORT: "0", GRPC_PORT: "0" })).to.include({
      httpPort: 0,
      grpcPort: 0,
    });
  });

  it("reads every default by its own rule and describes every setting", () => {
    const names = Object.keys(SETTINGS) as (keyof typeof SETTINGS)[];
    readSettings({}, names);
    const rows = describeSettings();
    expect(rows.map((row) => row.name)).to.deep.equal(names);
    for (const row of rows) {
      expect(row.meaning, row.name).to.have.length.above(10);
      expect(row.usedBy, row.name).not.to.be.empty;
    }
  });
});
