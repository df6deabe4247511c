import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { createHealthProbe } from "./health-probe.ts";

const NOBODY = "127.0.0.1:1";

describe("health probe", () => {
  const open: { close(): void }[] = [];
  afterEach(() => {
    for (const each of open.splice(0)) each.close();
  });
  /** A probe of a replica whose /livez answers as it is told, and what the probe says of the token. */
  const setUp = async (answer: (res: ServerResponse) => void) => {
    const replica = { answer };
    const server = createServer((_req, res) => replica.answer(res)).listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const said: boolean[] = [];
    const onToken = (isRefused: boolean) => void said.push(isRefused);
    open.push({
      close() {
        server.closeAllConnections();
        server.close();
      },
    });
    const check = async (timeoutMs = 10_000) => {
      const probe = createHealthProbe({ url, grpc: NOBODY }, { timeoutMs, onToken });
      open.push(probe);
      await probe.check().catch(() => {});
    };
    return { replica, said, check };
  };
  const refuse = (res: ServerResponse) =>
    void res.writeHead(200, { "WWW-Authenticate": "Bearer" }).end("alive");
  const accept = (res: ServerResponse) => void res.end("alive");

  it("says at each answer whether the replica refuses the token", async () => {
    const { replica, said, check } = await setUp(refuse);
    await check();
    replica.answer = accept;
    await check();
    expect(said).to.deep.equal([true, false]);
  });

  it("says nothing of the token where it is not answered: what was known stays", async () => {
    const { replica, said, check } = await setUp(refuse);
    await check();
    replica.answer = () => {};
    await check(50);
    replica.answer = (res) => void res.destroy();
    await check();
    expect(said).to.deep.equal([true]);
  });
});
