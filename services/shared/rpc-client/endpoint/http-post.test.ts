import { Buffer } from "node:buffer";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { afterEach, describe, it } from "mocha";
import { postWithNodeHttp } from "./http-post.ts";

type Answer = (request: http.IncomingMessage, response: http.ServerResponse, body: string) => void;

let server: http.Server | undefined;

async function serve(answer: Answer): Promise<URL> {
  server = http.createServer((request, response) => {
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (part) => {
      body += part;
    });
    request.on("end", () => answer(request, response, body));
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/path?query=1`);
}

function post(url: URL, { body = "{}", signal = new AbortController().signal, headers = {} } = {}) {
  return postWithNodeHttp(url, { method: "POST", headers, body, signal });
}

async function failureOf(work: Promise<unknown>): Promise<Error> {
  const failed = await work.then(
    () => undefined,
    (error: Error) => error,
  );
  if (failed === undefined) throw new Error("It should have failed.");
  return failed;
}

describe("postByHttp", () => {
  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  it("sends method, path, headers and body, and reads status, headers and text", async () => {
    const url = await serve((request, response, body) => {
      response.writeHead(429, { "Retry-After": "7" });
      response.end(`${request.method} ${request.url} ${request.headers["x-own"]} ${body}`);
    });
    const answer = await post(url, { body: "señal ✓", headers: { "x-own": "1" } });
    expect(answer.status).to.equal(429);
    expect(answer.headers.get("retry-after")).to.equal("7");
    expect(answer.headers.get("absent")).to.equal(null);
    expect(await answer.text()).to.equal("POST /path?query=1 1 señal ✓");
  });

  it("reads what comes in many parts, and what comes compressed", async () => {
    const text = "é✓0123456789".repeat(40_000);
    const url = await serve((request, response, body) => {
      if (body === "plain") return response.end(text);
      expect(request.headers["accept-encoding"]).to.equal("gzip");
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(gzipSync(text));
    });
    expect(await (await post(url, { body: "plain" })).text()).to.equal(text);
    expect(await (await post(url, { body: "zipped" })).text()).to.equal(text);
    for (const body of ["plain", "zipped"]) {
      const parts = (await (await post(url, { body })).parts?.()) ?? [];
      expect(Buffer.concat(parts).toString("utf8"), body).to.equal(text);
    }
  });

  it("fails on a truncated response, a refused connection and invalid compression", async () => {
    const broken = await serve((_, response, body) => {
      if (body === "zip") {
        response.writeHead(200, { "content-encoding": "gzip" });
        response.end("not that");
        return;
      }
      response.writeHead(200, { "content-length": "100" });
      response.write("half");
      setTimeout(() => response.destroy(), 5);
    });
    expect(await failureOf(post(broken))).to.be.instanceOf(Error);
    expect((await failureOf(post(broken, { body: "zip" }))).message).to.match(/incorrect header/);
    server?.closeAllConnections();
    await new Promise((resolve) => server?.close(resolve));
    expect((await failureOf(post(broken))).message).to.contain("ECONNREFUSED");
  });

  it("ends with the signal, before the response and during it", async () => {
    const url = await serve((_, response, body) => {
      if (body === "within") response.write("half");
    });
    for (const body of ["before", "within"]) {
      const controller = new AbortController();
      const failed = failureOf(post(url, { body, signal: controller.signal }));
      setTimeout(() => controller.abort(), 20);
      expect((await failed).name).to.equal("AbortError");
    }
  });

  it("retries only where an idle connection was closed meanwhile", async () => {
    let served = 0;
    const url = await serve((request, response) => {
      served += 1;
      // The second request of a connection finds it closed.
      if (served === 2) request.socket.resetAndDestroy();
      else response.end(String(served));
    });
    expect(await (await post(url)).text()).to.equal("1");
    expect(await (await post(url)).text()).to.equal("3");
    served = 1;
    server?.closeAllConnections();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect((await failureOf(post(url))).message).to.contain("ECONNRESET");
  });

  it("follows an endpoint that moved", async () => {
    const url = await serve((request, response, body) => {
      if (request.url === "/new") return response.end(`new ${body}`);
      response.writeHead(308, { location: "/new" });
      response.end();
    });
    expect(await (await post(url, { body: "x" })).text()).to.equal("new x");
  });
});
