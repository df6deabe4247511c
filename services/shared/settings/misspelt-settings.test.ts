import { expect } from "chai";
import { describe, it } from "mocha";
import { editDistance, findMisspeltSettings, rejectMisspeltSettings } from "./misspelt-settings.ts";

describe("settings/misspelt-settings", () => {
  it("names the chain that was meant by a misspelt endpoint", () => {
    const { problems } = findMisspeltSettings({ EVM_RPC_8543: "https://node.example/secret" });
    expect(problems).to.deep.equal([
      "Unknown setting EVM_RPC_8543: chain 8543 is not known; did you mean EVM_RPC_8453?",
    ]);
  });

  it("refuses endpoints and start blocks of a chain that is not known, and names those that are", () => {
    const { problems } = findMisspeltSettings({
      EVM_RPC_42161: "https://node.example",
      START_BLOCK_BASE: "5",
    });
    expect(problems).to.deep.equal([
      "Unknown setting EVM_RPC_42161: chain 42161 is not known; there is EVM_RPC_8453, EVM_RPC_1",
      "Unknown setting START_BLOCK_BASE; there is START_BLOCK_8453, START_BLOCK_1, START_BLOCK_SOLANA",
    ]);
  });

  it("says what was meant by names with a slip, whatever their case", () => {
    const env = {
      EVM_PRC_8453: "x",
      SOLANA_RCP: "x",
      KEY_RATES: "5",
      X402_PAYTO: "0x",
      Gateway_Port: "9000",
    };
    const { problems } = findMisspeltSettings(env);
    for (const [name, meant] of [
      ["EVM_PRC_8453", "EVM_RPC_8453"],
      ["SOLANA_RCP", "SOLANA_RPC"],
      ["KEY_RATES", "KEY_RATE"],
      ["X402_PAYTO", "X402_PAY_TO"],
      ["Gateway_Port", "GATEWAY_PORT"],
    ])
      expect(problems.join("\n")).to.include(`Unknown setting ${name}: did you mean ${meant}?`);
    expect(problems).to.have.length(5);
    expect(() => rejectMisspeltSettings(env)).to.throw("KEY_RATES");
  });

  it("only warns where the name may be another program's", () => {
    const found = findMisspeltSettings({ REDIS_URI: "redis://a", HTTPS_PORT: "443", LOG_LEVLE: "warn" });
    expect(found.problems).to.deep.equal([]);
    expect(found.warnings.join("\n")).to.include("LOG_LEVLE: did you mean LOG_LEVEL?");
    expect(() => rejectMisspeltSettings({ REDIS_URI: "redis://a" })).not.to.throw();
  });

  it("leaves variables of other programs, empty ones, and slips beside the right name alone", () => {
    const foreign = {
      HTTP_PROXY: "http://proxy",
      http_proxy: "http://proxy",
      NO_PROXY: "localhost",
      NODE_ENV: "production",
      NODE_OPTIONS: "--trace-warnings",
      OTEL_TRACES_EXPORTER: "otlp",
      OTEL_EXPORTER_OTLP_PROTOCOL: "grpc",
      PATH: "/bin",
      HOME: "/root",
      PAY_PRIVATE_KEY: "0x",
      GATEWAY_SERVICE_HOST: "10.0.0.1",
      EVM_DEX_PORT: "tcp://10.0.0.1:8101",
      SOLANA_PORT: "tcp://10.0.0.1:8103",
      FACILITATOR_PORT_8403_TCP: "tcp://10.0.0.1:8403",
      KEY_RATES: " ",
    };
    expect(findMisspeltSettings(foreign)).to.deep.equal({ problems: [], warnings: [] });
    const beside = { LOG_LEVELS: "all", LOG_LEVEL: "info" };
    expect(findMisspeltSettings(beside)).to.deep.equal({ problems: [], warnings: [] });
  });

  it("tells a short SOLANA_PORTAL from the address that Kubernetes gives of the service solana", () => {
    const { problems } = findMisspeltSettings({ SOLANA_PORT: "https://portal.example/datasets/solana" });
    expect(problems).to.have.length(1);
    expect(problems[0]).to.include("did you mean SOLANA_PORTAL?");
  });

  it("counts a swap of neighbours as one slip", () => {
    expect(editDistance("8543", "8453")).to.equal(1);
    expect(editDistance("KEY_RATE", "KEY_RATE")).to.equal(0);
    expect(editDistance("PROXY", "PORT")).to.equal(3);
    expect(editDistance("", "abc")).to.equal(3);
  });
});
