import { expect } from "chai";
import { describe, it } from "mocha";
import { ConfigError } from "../services/shared/host/config.ts";
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
});
