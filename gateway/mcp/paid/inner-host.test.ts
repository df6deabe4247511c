import { expect } from "chai";
import express from "express";
import { afterEach, beforeEach, describe, it } from "mocha";
import { createClientAddressReader } from "../../auth/limits/client-address.ts";
import { createInnerHost, type InnerHost } from "./inner-host.ts";

describe("createInnerHost", () => {
  const readAddress = createClientAddressReader([]);
  let host: InnerHost;
  let seen: string[];
  beforeEach(() => {
    seen = [];
    host = createInnerHost(
      async (req, res) => {
        seen.push(readAddress(req));
        res.end("ok");
      },
      (handle) => express().use(handle),
    );
  });
  afterEach(() => host.stop(1_000));

  it("counts a request for the client that it is asked for", async () => {
    for (const client of ["192.0.2.7", "2001:db8:0:1::/64"]) {
      const { baseUrl, headers } = await host.open(client);
      expect((await fetch(`${baseUrl}/x`, { headers })).status).to.equal(200);
    }
    expect(seen).to.deep.equal(["192.0.2.7", "2001:db8:0:1::/64"]);
  });

  it("answers nobody without the token of its process, nor with another's", async () => {
    const { baseUrl, headers } = await host.open("192.0.2.7");
    const other = createInnerHost(
      async () => {},
      () => express(),
    );
    const foreign = await other.open("192.0.2.7");
    for (const sent of [
      {},
      { "x-inner-client": "192.0.2.7" },
      foreign.headers,
      { ...headers, "x-inner-token": "" },
    ])
      expect((await fetch(baseUrl, { headers: sent as Record<string, string> })).status).to.equal(404);
    expect(seen).to.deep.equal([]);
    await other.stop(1_000);
  });
});
