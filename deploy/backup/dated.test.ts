import { mkdir, mkdtemp, readdir, rm, truncate, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { afterEach, beforeEach, describe, it } from "mocha";
import { leastCases, randomRuns } from "../../services/shared/testkit/describe.ts";
import { backUpDated } from "./dated.ts";
import { describeFile, writeManifest } from "./manifest.ts";

const NOW_MS = Date.UTC(2026, 10, 24, 3, 15, 0);
const NEW = "2026-11-24T03-15-00Z";
const HOUR_MS = 3_600_000;

/** As backup and dump do: the manifest last. */
async function make(to: string) {
  await writeFile(join(to, "rows.bson.gz"), "rows");
  return writeManifest(to, {
    engine: "mongodb",
    version: "test",
    files: [await describeFile(to, "rows.bson.gz")],
  });
}

describe("backUpDated", () => {
  let into: string;
  beforeEach(async () => {
    into = await mkdtemp(join(tmpdir(), "backups-"));
  });
  afterEach(() => rm(into, { recursive: true, force: true }));

  const dayOf = (day: number) => `2026-11-${String(day).padStart(2, "0")}T03-15-00Z`;
  const KINDS = ["whole", "damaged", "killed", "running", "foreign"] as const;
  type Kind = (typeof KINDS)[number];
  /** A folder as it may be found; returns its name. */
  async function put(kind: Kind, day: number): Promise<string> {
    const name = kind === "foreign" ? `by-hand-${day}` : dayOf(day);
    const folder = join(into, name);
    await mkdir(folder);
    if (["whole", "damaged", "foreign"].includes(kind)) await make(folder);
    else await writeFile(join(folder, "rows.bson.gz"), "ro");
    if (kind === "damaged") await truncate(join(folder, "rows.bson.gz"), 1);
    const changedMs = kind === "killed" ? NOW_MS - 2 * HOUR_MS : NOW_MS - 1_000;
    for (const path of [join(folder, "rows.bson.gz"), folder])
      await utimes(path, changedMs / 1_000, changedMs / 1_000);
    return name;
  }

  it("keeps the newest whole ones with the new one, and what others have put there", async () => {
    let removed = 0;
    const kinds = fc.array(fc.constantFrom(...KINDS), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(kinds, fc.integer({ min: 1, max: 4 }), async (found, keep) => {
        const names: [Kind, string][] = [];
        for (const [i, kind] of found.entries()) names.push([kind, await put(kind, i + 1)]);
        const { folder, removed: gone } = await backUpDated(into, { keep, make, nowMs: NOW_MS });
        expect(folder).to.equal(join(into, NEW));
        const left = new Set(await readdir(into));
        expect(left).to.include(NEW);
        const whole = names.filter(([kind]) => kind === "whole").map(([, name]) => name);
        const kept = keep === 1 ? [] : whole.slice(1 - keep);
        const oldest = whole.length >= keep - 1 ? (kept[0] ?? NEW) : "";
        for (const [kind, name] of names) {
          const stays = {
            whole: name >= oldest,
            damaged: name >= oldest,
            killed: false,
            running: true,
            foreign: true,
          };
          expect(left.has(name), `${kind} ${name} of ${found}, ${keep} kept`).to.equal(stays[kind]);
        }
        expect(gone).to.have.members(
          names.filter(([, name]) => !left.has(name)).map(([, name]) => join(into, name)),
        );
        removed += gone.length;
        for (const name of left) await rm(join(into, name), { recursive: true });
      }),
      { numRuns: randomRuns(200) },
    );
    expect(removed).to.be.at.least(leastCases(100));
  });

  it("keeps all without a number", async () => {
    for (let day = 1; day < 12; day++) await put("whole", day);
    expect((await backUpDated(into, { keep: undefined, make, nowMs: NOW_MS })).removed).to.deep.equal([]);
    expect(await readdir(into)).to.have.length(12);
  });

  it("removes nothing where it fails, and leaves no half copy", async () => {
    const before = [await put("whole", 1), await put("whole", 2), await put("damaged", 3)];
    const fail = async (to: string) => {
      await writeFile(join(to, "rows.bson.gz"), "ro");
      throw new Error("no space left on device");
    };
    const failed = await backUpDated(into, { keep: 1, make: fail, nowMs: NOW_MS }).catch(
      (error: Error) => error,
    );
    expect(failed).to.be.an("error").with.property("message", "no space left on device");
    expect(await readdir(into)).to.have.members(before);
  });

  it("is refused where one was begun within the same second, which stays", async () => {
    await backUpDated(into, { keep: 1, make, nowMs: NOW_MS });
    const failed = await backUpDated(into, { keep: 1, make, nowMs: NOW_MS + 900 }).catch(
      (error: Error) => error,
    );
    expect(failed).to.be.an("error").with.property("message").that.contains("it is there already");
    expect(await readdir(join(into, NEW))).to.include("backup.json");
  });
});
