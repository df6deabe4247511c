import { expect } from "chai";
import express, { type Request } from "express";
import { afterEach, describe, it } from "mocha";
import { closeHttpServer, createHttpServer, listen } from "../../services/shared/http/server.ts";
import { createDocument } from "./document.ts";

describe("documents", () => {
  let close = async () => {};
  afterEach(() => close());

  const serve = async (render: (baseUrl: string) => string) => {
    const app = express();
    const baseUrlOf = (req: Request) => String(req.headers["x-base"]);
    app.use(createDocument({ type: "text/plain", baseUrlOf, render }));
    const server = createHttpServer(app);
    const port = await listen(server, { host: "127.0.0.1", port: 0 });
    close = () => closeHttpServer(server, { timeoutMs: 100 });
    return async (base: string) =>
      (await fetch(`http://127.0.0.1:${port}/`, { headers: { "X-Base": base } })).text();
  };

  it("are rendered once for each base address, and only so many are kept", async () => {
    let rendered = 0;
    const read = await serve((baseUrl) => {
      rendered += 1;
      return `at ${baseUrl}`;
    });
    for (let round = 0; round < 3; round += 1) {
      for (const base of ["a", "b"]) expect(await read(base)).to.equal(`at ${base}`);
    }
    expect(rendered).to.equal(2);
    for (let number = 0; number < 100; number += 1) await read(`other ${number}`);
    expect(rendered).to.equal(102);
    expect(await read("a")).to.equal("at a");
    expect(rendered).to.equal(103);
  });
});
