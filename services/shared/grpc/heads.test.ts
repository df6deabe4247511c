import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { createTokenCheck } from "../service/service-token.ts";
import { until } from "../testkit/fixture.ts";
import { createHeadsClient } from "./heads.ts";
import { type GrpcServerOptions, type RunningGrpcServer, startGrpcServer } from "./server.ts";
import type { LiveHead, RpcClient } from "./types.ts";

const TOKEN = "a service token of more than 32 characters";
const head = (block: number, chainId = 8453): LiveHead => ({
  ...{ chainId, block, hash: `0x${block}`, time: 1_785_932_479, version: "v" },
  recent: [{ block: block - 1, hash: `0x${block - 1}` }],
});

describe("heads over gRPC", () => {
  const servers: RunningGrpcServer[] = [];
  const clients: RpcClient[] = [];
  const listeners = new Set<(head: LiveHead) => void>();
  const tell = (each: LiveHead) => {
    for (const listener of listeners) listener(each);
  };
  const start = async (more: Partial<GrpcServerOptions> = {}) => {
    const server = await startGrpcServer({
      host: "127.0.0.1",
      port: 0,
      services: {
        status: { getStatus: () => Promise.reject(new Error("not asked")) },
        health: async () => true,
        heads: {
          watch(listener) {
            listeners.add(listener);
            listener(head(1));
            return () => void listeners.delete(listener);
          },
        },
      },
      ...more,
    });
    servers.push(server);
    return server;
  };
  const watch = (address: string, serviceToken?: string) => {
    const client = createHeadsClient(address, { serviceToken });
    clients.push(client);
    const seen = { heads: [] as LiveHead[], ends: [] as (Error | undefined)[] };
    const stop = client.watch({
      onHead: (each) => seen.heads.push(each),
      onEnd: (error) => seen.ends.push(error),
    });
    return { ...seen, stop };
  };
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await Promise.all(servers.splice(0).map((server) => server.stop({ timeoutMs: 0 })));
    listeners.clear();
  });

  it("carries heads as they are, in their order", async () => {
    const { address } = await start();
    const { heads, stop } = watch(address);
    await until(() => heads.length === 1);
    for (const each of [head(2), head(250_000_000, 0), head(3)]) tell(each);
    await until(() => heads.length === 4);
    expect(heads).to.deep.equal([head(1), head(2), head(250_000_000, 0), head(3)]);
    stop();
    await until(() => listeners.size === 0);
  });

  it("ends with the server, which does not wait for it", async () => {
    const server = await start();
    const { heads, ends } = watch(server.address);
    await until(() => heads.length === 1);
    await server.stop({ timeoutMs: 20_000 });
    await until(() => ends.length === 1);
    expect(listeners.size).to.equal(0);
  });

  it("needs the service token", async () => {
    const { address } = await start({ isAuthorized: createTokenCheck([TOKEN]) });
    const without = watch(address);
    await until(() => without.ends.length === 1);
    expect(without.ends[0]?.message).to.match(/service token/);
    expect(without.heads).to.deep.equal([]);
    const { heads } = watch(address, TOKEN);
    await until(() => heads.length === 1);
  });

  it("tells an older service, which has no heads, by its end", async () => {
    const health = async () => true;
    const status = { getStatus: () => Promise.reject(new Error("not asked")) };
    const { address } = await start({ services: { status, health } });
    const { ends } = watch(address);
    await until(() => ends.length === 1);
    expect(ends[0]?.message).to.match(/UNIMPLEMENTED/);
  });
});
