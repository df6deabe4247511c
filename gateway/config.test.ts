import { expect } from "chai";
import { describe, it } from "mocha";
import { ConfigError } from "../services/shared/settings/settings.ts";
import { readGatewayConfig } from "./config.ts";

describe("gateway config", () => {
  it("stands without any variable: loopback, the services of this machine, an embedded store, no bootstrap key", () => {
    const config = readGatewayConfig({});
    expect(config).to.include({ port: 8080, bindHost: "127.0.0.1", deadlineMs: 10_000 });
    expect(config.upstreams.solana).to.have.length(1);
    expect(config.store.mongodbUrl).to.equal(undefined);
    expect(config.bootstrapKey).to.equal(undefined);
    expect(config.publicUrl).to.equal(undefined);
  });

  it("pairs the n-th URL of a service with its n-th gRPC address", () => {
    const { upstreams } = readGatewayConfig({
      LENDING_URL: "http://a:1/,https://b",
      LENDING_GRPC: "a:2,b:3",
    });
    expect(upstreams.lending).to.deep.equal([
      { url: "http://a:1", grpc: "a:2" },
      { url: "https://b", grpc: "b:3" },
    ]);
  });

  it("refuses lists that do not pair, and URLs with more than scheme, host and port", () => {
    expect(() => readGatewayConfig({ SOLANA_URL: "http://a:1,http://b:1" })).to.throw(
      ConfigError,
      "SOLANA_GRPC",
    );
    for (const address of ["http://a/base", "http://a/?b", "http://user:secret@a"]) {
      const read = () => readGatewayConfig({ EVM_DEX_URL: address });
      expect(read, address).to.throw(ConfigError, "EVM_DEX_URL");
      expect(read).not.to.throw("secret");
    }
  });

  it("takes a public URL without its last slash and with nothing that needs escaping", () => {
    expect(readGatewayConfig({ PUBLIC_URL: "https://data.example/" }).publicUrl).to.equal(
      "https://data.example",
    );
    expect(readGatewayConfig({ PUBLIC_URL: 'https://data.example/a"<b>' }).publicUrl).not.to.match(/["<>]/);
    expect(() => readGatewayConfig({ PUBLIC_URL: "data.example" })).to.throw(ConfigError, "PUBLIC_URL");
  });

  describe("of payments", () => {
    const PAY_TO = "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913";
    const least = { X402_PAY_TO: PAY_TO, EVM_RPC_8453: "https://node.example,wss://node.example" };

    it("is absent where nobody is to be paid, whatever else is set", () => {
      expect(readGatewayConfig({}).payment).to.equal(undefined);
      expect(readGatewayConfig({ ...least, X402_PAY_TO: "", X402_PORT: "9" }).payment).to.equal(undefined);
    });

    it("is for one process, or for several that share a Redis", () => {
      const several = { ...least, GATEWAY_WORKERS: "2" };
      expect(() => readGatewayConfig(several)).to.throw(ConfigError, "REDIS_URL");
      const withRedis = { ...several, REDIS_URL: "redis://127.0.0.1" };
      if ("Deno" in globalThis) expect(() => readGatewayConfig(withRedis)).to.throw(ConfigError, "Deno");
      else expect(readGatewayConfig(withRedis).workers).to.equal(2);
      expect(readGatewayConfig({ ...least, GATEWAY_WORKERS: "1" }).workers).to.equal(1);
    });

    it("stands with who is paid and where the chain can be asked", () => {
      expect(readGatewayConfig(least).payment).to.deep.equal({
        port: 8402,
        publicUrl: undefined,
        payTo: PAY_TO,
        facilitatorUrl: "http://127.0.0.1:8403",
        facilitatorToken: undefined,
        prices: new Map(),
        rpcUrls: ["https://node.example"],
        settleTimeoutMs: 10_000,
        answersKeptMs: 3_600_000,
      });
    });

    it("needs an http endpoint of the chain, and an address of its own where it listens on all", () => {
      for (const rpc of [undefined, "wss://node.example"]) {
        const read = () => readGatewayConfig({ ...least, EVM_RPC_8453: rpc });
        expect(read).to.throw(ConfigError, "EVM_RPC_8453");
      }
      for (const BIND_HOST of ["0.0.0.0", "::"]) {
        expect(() => readGatewayConfig({ ...least, BIND_HOST })).to.throw(ConfigError, "X402_PUBLIC_URL");
        const { payment } = readGatewayConfig({
          ...least,
          BIND_HOST,
          X402_PUBLIC_URL: "https://pay.example/",
        });
        expect(payment?.publicUrl).to.equal("https://pay.example");
      }
    });

    it("reads prices by path, and refuses what is no price", () => {
      const priced = (X402_PRICES: string) => readGatewayConfig({ ...least, X402_PRICES }).payment?.prices;
      expect(priced("/evm/chains=0.01, /evm/dexes=2")).to.deep.equal(
        new Map([
          ["/evm/chains", "0.01"],
          ["/evm/dexes", "2"],
        ]),
      );
      for (const wrong of [
        "/evm/chains",
        "evm/chains=1",
        "/evm/chains=-1",
        "/evm/chains=1e3",
        "/evm/chains=0.0000001",
        "/evm/chains=.5",
        "/evm/chains=1=2",
        "/evm/chains=1,",
        "/evm/chains=1,/evm/chains=2",
      ])
        expect(() => priced(wrong), wrong).to.throw(ConfigError, "X402_PRICES");
    });

    it("takes no address whose checksum is wrong", () => {
      for (const right of [PAY_TO, PAY_TO.toLowerCase(), `0x${PAY_TO.slice(2).toUpperCase()}`])
        expect(readGatewayConfig({ ...least, X402_PAY_TO: right }).payment?.payTo).to.equal(right);
      for (const wrong of [PAY_TO.replace("fCD6", "fcD6"), "0x1", `${PAY_TO}00`, "somebody"])
        expect(() => readGatewayConfig({ ...least, X402_PAY_TO: wrong }), wrong).to.throw(
          ConfigError,
          "X402_PAY_TO",
        );
    });
  });
});
