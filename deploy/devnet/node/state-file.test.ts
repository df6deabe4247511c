import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import { createTraceStripper } from "./state-file.ts";

function strip(json: string, chunkBytes: number): Promise<string> {
  const bytes = Buffer.from(json);
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes));
  return text(Readable.from(chunks).pipe(createTraceStripper()));
}

const transaction = fc.record({
  hash: fc.string(),
  traces: fc.array(fc.record({ logs: fc.array(fc.string()), note: fc.string() })),
  receipt: fc.record({ logs: fc.array(fc.string()) }),
});

describe("devnet: state file", () => {
  it("empties traces and nothing else, wherever the chunks are cut", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(transaction),
        fc.integer({ min: 1, max: 40 }),
        async (transactions, chunkBytes) => {
          const stripped = JSON.parse(await strip(JSON.stringify({ transactions }), chunkBytes)) as unknown;
          expect(stripped).to.deep.equal({
            transactions: transactions.map((one) => ({ ...one, traces: [] })),
          });
        },
      ),
    ));

  it("refuses a dump that ends too early", async () => {
    const error = await strip('{"traces":[{"a":[1', 5).catch((caught: Error) => caught);
    expect(String(error)).to.match(/ended inside/);
  });
});
