import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { afterEach, beforeEach, describe, it } from "mocha";
import { randomRuns } from "../../testkit/describe.ts";
import { allRows, changeRows, openDatabase, prepare, readPragma, resultCodeOf } from "./driver.ts";

/** SQLite keeps no sign of zero. */
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value + 0);
/** A double from its bits: mostly very large or very small ones. */
const anyBits = fc
  .bigInt({ min: 0n, max: 2n ** 64n - 1n })
  .map((bits) => new Float64Array(BigUint64Array.of(bits).buffer)[0] as number)
  .filter(Number.isFinite)
  .map((value) => value + 0);
const tiny = fc.double({ min: 0, max: Number.EPSILON, noNaN: true }).map((value) => value + 0);

describe("the SQLite driver", () => {
  let dir: string;
  let path: string;
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "driver-"));
    path = join(dir, "store.sqlite");
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it("is a SQLite without the race between two checkpoints", async () => {
    const database = await openDatabase(":memory:");
    const [[version] = []] = allRows(prepare(database, "SELECT sqlite_version()"), []);
    database.close();
    const [major = 0, minor = 0, patch = 0] = String(version).split(".").map(Number);
    expect(major * 1e6 + minor * 1e3 + patch, String(version)).to.be.at.least(3_051_003);
  });

  it("keeps every double, and finds it again", async () => {
    const database = await openDatabase(":memory:");
    database.exec("CREATE TABLE numbers (value REAL NOT NULL) STRICT");
    const put = prepare(database, "INSERT INTO numbers VALUES (?)");
    const find = prepare(database, "SELECT value FROM numbers WHERE value = ? AND value >= ?");
    fc.assert(
      fc.property(fc.oneof(double, anyBits, tiny), (value) => {
        database.exec("DELETE FROM numbers");
        expect(changeRows(put, [value])).to.equal(1);
        expect(allRows(find, [value, value])).to.deep.equal([[value]]);
      }),
      { numRuns: randomRuns(20_000), examples: [[5e-324], [2 ** -53], [2 ** -52], [1e-18], [-1e-18]] },
    );
    database.close();
  });

  it("tells the code of an error, also of one that comes with the rows", async () => {
    const holder = await openDatabase(path);
    holder.exec("PRAGMA journal_mode = DELETE; CREATE TABLE notes (id INTEGER PRIMARY KEY)");
    const other = await openDatabase(path);
    const read = prepare(other, "SELECT * FROM notes");
    const write = prepare(other, "INSERT INTO notes VALUES (?)");
    expect(allRows(read, [])).to.deep.equal([]);
    holder.exec("BEGIN EXCLUSIVE");
    const errors = [
      () => allRows(read, []),
      () => changeRows(write, [1]),
      () => other.exec("BEGIN EXCLUSIVE"),
    ].map(caught);
    holder.exec("COMMIT");
    expect(errors.map(resultCodeOf)).to.deep.equal([5, 5, 5]);
    // SQLITE_CONSTRAINT_PRIMARYKEY, as extended code.
    expect(changeRows(write, [1])).to.equal(1);
    expect(resultCodeOf(caught(() => changeRows(write, [1])))).to.equal(1555);
    expect(resultCodeOf(new Error("of something else"))).to.equal(undefined);
    for (const database of [holder, other]) database.close();
  });

  it("lets go of a file as it is closed, whatever statements of it there are", async () => {
    const databases = [await openDatabase(path), await openDatabase(path)];
    const statements = databases.map((database) => {
      database.exec("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY)");
      return prepare(database, "SELECT * FROM notes");
    });
    for (const statement of statements) allRows(statement, []);
    expect((await readdir(dir)).sort()).to.deep.equal([
      "store.sqlite",
      "store.sqlite-shm",
      "store.sqlite-wal",
    ]);
    for (const database of databases) database.close();
    // The last connection removes the log: none is left.
    expect(await readdir(dir)).to.deep.equal(["store.sqlite"]);
    for (const statement of statements) expect(() => allRows(statement, [])).to.throw(/finalized/);
  });

  it("reads what a file keeps of itself", async () => {
    const database = await openDatabase(path);
    database.exec("PRAGMA user_version = 7");
    expect([readPragma(database, "user_version"), readPragma(database, "no_such_pragma")]).to.deep.equal([
      7, 0,
    ]);
    database.close();
  });
});

function caught(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("It did not fail.");
}
