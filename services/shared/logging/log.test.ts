import { expect } from "chai";
import { describe, it } from "mocha";
import { createLog, redactText } from "./log.ts";

function logged(write: (log: ReturnType<typeof createLog>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  write(
    createLog({
      name: "lending",
      level: "info",
      destination: { write: (line: string) => void lines.push(line) },
    }),
  );
  return lines.map((line) => JSON.parse(line));
}

describe("logging/log", () => {
  it("writes one JSON object a line with service, version, level and ISO time", () => {
    const [line] = logged((log) => log.info({ block: 5 }, "indexed"));
    expect(line).to.include({ service: "lending", level: "info", msg: "indexed", block: 5 });
    expect(line?.time).to.match(/^\d{4}-\d\d-\d\dT/);
  });

  it("keeps to its level", () => {
    expect(logged((log) => log.debug("quiet"))).to.be.empty;
  });

  it("shortens URLs to their host in messages, fields, nested fields and errors", () => {
    const url = "https://user:pw@rpc.example:8545/v2/SECRETPATH?key=SECRETQUERY";
    const error = new Error(`fetch ${url} failed`, { cause: new Error(`again ${url}`) });
    const lines = logged((log) => {
      log.info(`request ${url}`);
      log.info({ url, deep: { list: [url] } }, "request");
      log.error({ err: error }, "failed");
    });
    const all = JSON.stringify(lines);
    expect(all).not.to.contain("SECRET").and.not.to.contain("user").and.not.to.contain("pw@");
    expect(lines[0]?.msg).to.equal("request https://rpc.example:8545");
    expect(lines[1]?.deep).to.deep.equal({ list: ["https://rpc.example:8545"] });
  });

  it("hides credentials by field name and API keys by their form", () => {
    const key = `ct_${"a".repeat(43)}_0a1b2c3d`;
    const lines = logged((log) => {
      log.info(
        { apiKey: "hush", headers: { "x-api-key": "hush", authorization: "hush", cookie: "hush" } },
        "request",
      );
      log.info(`key ${key} refused`);
    });
    expect(JSON.stringify(lines)).not.to.contain("hush").and.not.to.contain("aaaa");
  });

  it("leaves other text alone", () => {
    const plain = "at file:///app/x.ts:1:2 and http://127.0.0.1:8101 and 3://4";
    expect(redactText(plain)).to.equal(plain);
  });
});
