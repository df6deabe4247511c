import { PassThrough } from "node:stream";
import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { relayLines } from "./relay.ts";

describe("fleet: relay of lines", () => {
  it("writes whole lines however the bytes come in, and all of them", async () => {
    const lines = fc.array(fc.string({ maxLength: 20 }).map((line) => line.replaceAll("\n", " ")));
    await fc.assert(
      fc.asyncProperty(lines, fc.string({ maxLength: 5 }), fc.nat(30), async (whole, last, size) => {
        const unfinished = last.replaceAll("\n", "");
        const bytes = Buffer.from(whole.map((line) => `${line}\n`).join("") + unfinished);
        const stream = new PassThrough();
        const written: string[] = [];
        relayLines(stream, (chunk) => written.push(chunk.toString()));
        for (let at = 0; at < bytes.length; at += size + 1) stream.write(bytes.subarray(at, at + size + 1));
        const ended = new Promise((resolve) => stream.once("end", resolve));
        stream.end();
        await ended;
        expect(written.join("")).to.equal(bytes.toString());
        const inside = unfinished === "" ? written : written.slice(0, -1);
        for (const text of inside) expect(text.endsWith("\n")).to.equal(true);
      }),
    );
  });
});
