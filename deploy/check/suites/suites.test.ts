import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { describeWithProcesses } from "../../../services/shared/testkit/describe.ts";
import { ROOT, run } from "../command.ts";
import {
  judgeSuite,
  listProductTests,
  readRecord,
  runSuite,
  type SuiteRecord,
  suiteCommand,
  TOOL_TESTS,
} from "./suites.ts";

const ENDED = { ok: true, timedOut: false, exitCode: 0 };
const GOOD: SuiteRecord = { passes: 3, failures: 0, pending: [], failed: [] };

describe("verdict on a suite", () => {
  it("passes when every test ran and passed", () =>
    expect(judgeSuite(ENDED, GOOD, { pendingAllowed: false })).to.deep.equal({
      tally: { passed: 3, failed: 0 },
      faults: [],
    }));

  it("counts a pending test as failed and names it, unless pending tests are allowed", () => {
    const record = { ...GOOD, pending: ["store on MongoDB"] };
    expect(judgeSuite(ENDED, record, { pendingAllowed: false })).to.deep.equal({
      tally: { passed: 3, failed: 1 },
      faults: ["pending: store on MongoDB"],
    });
    expect(judgeSuite(ENDED, record, { pendingAllowed: true }).tally).to.deep.equal({ passed: 3, failed: 0 });
  });

  it("allows pending tests by the end of their titles, and no others", () => {
    const record = { ...GOOD, pending: ["store on MongoDB", "kills: left to others"] };
    expect(judgeSuite(ENDED, record, { pendingAllowed: "left to others" })).to.deep.equal({
      tally: { passed: 3, failed: 1 },
      faults: ["pending: store on MongoDB"],
    });
  });

  it("counts failures, and repeats each with its error", () => {
    const failed = ["one", "two"].map((title) => ({ title, reason: `Error: ${title} broke\n    at a.ts:1` }));
    const { tally, faults } = judgeSuite(
      { ...ENDED, ok: false, exitCode: 2 },
      { ...GOOD, failures: 2, failed },
      { pendingAllowed: true },
    );
    expect(tally).to.deep.equal({ passed: 3, failed: 2 });
    expect(faults).to.deep.equal(["failed: one\n  Error: one broke", "failed: two\n  Error: two broke"]);
  });

  for (const [what, result, record] of [
    ["no test ran", ENDED, { ...GOOD, passes: 0 }],
    ["mocha broke off", { ...ENDED, ok: false, exitCode: 1 }, undefined],
    ["mocha ended with an error after the tests", { ...ENDED, ok: false, exitCode: 1 }, GOOD],
    ["mocha hung after the tests", { ok: false, timedOut: true, exitCode: null }, GOOD],
    ["mocha hung during the tests", { ok: false, timedOut: true, exitCode: null }, undefined],
  ] as const) {
    it(`fails when ${what}`, () => {
      const { tally, faults } = judgeSuite(result, record, { pendingAllowed: true });
      expect(tally.failed).to.equal(1);
      expect(faults).to.have.length(1);
    });
  }
});

describe("tests of the product", () => {
  it("are, with those of the tools around it, all tests: the full check leaves none out", async () => {
    const folders = [...listProductTests(ROOT), ...TOOL_TESTS].map((files) => files.replace(/\*.*/, ""));
    const all = (await run(["git", "ls-files", "*.test.ts"])).stdout.trim().split("\n");
    expect(all).to.have.length.above(100);
    expect(all.filter((file) => !folders.some((folder) => file.startsWith(folder)))).to.deep.equal([]);
  });

  it("are those of the gateway and of every folder of services, one by one", () =>
    expect(listProductTests(ROOT)).to.include.members([
      "gateway/**/*.test.ts",
      "services/evm-dex/**/*.test.ts",
      "services/shared/**/*.test.ts",
    ]));
});

describeWithProcesses("recording reporter", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(ROOT, "node_modules/.suites-"));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  it("records passed, failed and pending tests of a real run beside mocha's own output", async () => {
    const file = join(folder, "sample.mjs");
    await writeFile(
      file,
      `import { describe, it } from "mocha";
       describe("sample", () => {
         it("passes", () => {});
         it("fails", () => { throw new Error("on purpose", { cause: new Error("by a cause") }); });
         it("is skipped", function () { this.skip(); });
         it("is not written");
       });`,
    );
    const output = join(folder, "record.json");
    const { exitCode, stdout } = await run(suiteCommand({ runtime: "node", files: [file], output }));
    expect(exitCode).to.equal(1);
    expect(stdout).to.include("1 passing").and.include("2 pending").and.include("1 failing");
    const { failed = [], ...counts } = (await readRecord(output)) ?? {};
    expect(counts).to.deep.equal({
      passes: 1,
      failures: 1,
      pending: ["sample is skipped", "sample is not written"],
    });
    expect(failed.map(({ title }) => title)).to.deep.equal(["sample fails"]);
    expect(failed[0]?.reason).to.match(/^Error: on purpose\n.*\nCaused by Error: by a cause\n/s);
  });

  it("says which timers hold a process after its tests", async () => {
    const file = join(folder, "held.mjs");
    await writeFile(
      file,
      `import { it } from "mocha";
       it("leaves a timer running", () => {
         setTimeout(function leftBehind() {}, 2000);
         setTimeout(() => {}, 3000).unref();
         clearTimeout(setTimeout(() => {}, 4000));
       });`,
    );
    const output = join(folder, "held.json");
    const command = [
      ...suiteCommand({ runtime: "node", files: [file], output }),
      "--reporter-option",
      "heldMs=200",
    ];
    const result = await run(command);
    expect(result.output).to.include("\n  Timeout of 2000 ms: function leftBehind");
    expect(result.output.match(/Timeout of/g)).to.have.length(1);
  });

  it("cuts a run whose process does not end after its tests, and says so", async () => {
    const file = join(folder, "open.mjs");
    await writeFile(
      file,
      `import { it } from "mocha";
       it("passes but leaves a timer running", () => { setInterval(() => {}, 1000); });`,
    );
    const { tally, faults } = await runSuite({
      runtime: "node",
      files: [file],
      timeoutMs: 60_000,
      pendingAllowed: false,
      endGraceMs: 500,
      echo: false,
    });
    expect(tally).to.deep.equal({ passed: 1, failed: 1 });
    expect(faults).to.deep.equal(["the tests ended but mocha did not: something is left open"]);
  });

  it("leaves no record when the tests did not end", async () =>
    expect(await readRecord(join(folder, "nothing.json"))).to.equal(undefined));
});
