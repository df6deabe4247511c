import { spawn } from "node:child_process";
import { expect } from "chai";
import fc from "fast-check";
import { it } from "mocha";
import { commandLineOf } from "../process/program.ts";
import { describeWithProcesses } from "../testkit/describe.ts";
import { CLIENT_PREFACE_BYTES, createGoawayMask } from "./goaway.ts";

const GOAWAY = 0x7;
const UNKNOWN = 0xfa;

interface Frame {
  readonly type: number;
  readonly rest: Uint8Array;
  readonly payload: Uint8Array;
}

function encode({ type, rest, payload }: Frame): Buffer {
  const length = Buffer.alloc(3);
  length.writeUIntBE(payload.length, 0, 3);
  return Buffer.concat([length, Buffer.from([type]), rest, payload]);
}

/** Payloads full of sevens, so that a mask which loses its place would change them. */
const frames = fc.array(
  fc.record({
    type: fc.constantFrom(0x0, 0x1, 0x4, GOAWAY, GOAWAY, 0x8),
    rest: fc.uint8Array({ minLength: 5, maxLength: 5, max: GOAWAY }),
    payload: fc.uint8Array({ maxLength: 700, min: GOAWAY, max: GOAWAY }),
  }),
  { maxLength: 8 },
);

describeWithProcesses("rpc/goaway", () => {
  it("changes the type of every GOAWAY and nothing else, however the bytes are cut", () => {
    fc.assert(
      fc.property(frames, fc.boolean(), fc.array(fc.nat(40), { maxLength: 30 }), (sent, fromClient, cuts) => {
        const preface = Buffer.alloc(fromClient ? CLIENT_PREFACE_BYTES : 0, GOAWAY);
        const bytes = Buffer.concat([preface, ...sent.map(encode)]);
        const masked = sent.map((frame) => (frame.type === GOAWAY ? { ...frame, type: UNKNOWN } : frame));
        const expected = Buffer.concat([preface, ...masked.map(encode)]);
        const mask = createGoawayMask(preface.length);
        let from = 0;
        for (const cut of cuts) {
          mask(bytes.subarray(from, from + cut));
          from += cut;
        }
        mask(bytes.subarray(from));
        expect(bytes.equals(expected)).to.equal(true);
      }),
    );
  });

  it("lets this runtime outlive clients and servers that leave", async () => {
    const entry = new URL("./testkit/goaway.main.ts", import.meta.url);
    const [command, ...args] = commandLineOf({ entry }, { graceMs: 1_000 });
    // glibc fills freed memory with this pattern: what reads it afterwards fails at once, not now and then.
    const env = { ...process.env, MALLOC_PERTURB_: "85" };
    const child = spawn(command, args, { env, stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    child.stdout.on("data", (chunk) => {
      said += chunk;
    });
    const end = await new Promise((resolve) => {
      child.once("close", (code, signal) => resolve({ code, signal }));
    });
    expect(end).to.deep.equal({ code: 0, signal: null });
    expect(said).to.contain("survived");
  });
});
