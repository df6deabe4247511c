import { copyFile, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { it } from "mocha";
import { openDatabase } from "../../../services/shared/storage/sqlite/driver.ts";
import type { StoreName } from "../../../services/shared/storage/stores.ts";
import { examineStore, type StoreOptions } from "../examine.ts";

/** One thing that is wrong, and what must be said of it. */
export interface Break {
  readonly name: string;
  readonly sql: string;
  readonly level?: "fault" | "note";
  readonly check: string;
  readonly says: string | RegExp;
}

export const optionsAt = (dataDir: string, more: Partial<StoreOptions> = {}): StoreOptions => ({
  ...{ dataDir, mongodbUrl: undefined, historyDir: dataDir, leaseTtlMs: 200, deployments: [] },
  ...{ kept: {}, pages: "quick", samples: 1_000, seed: 7, ...more },
});

export async function change(file: string, sql: string): Promise<void> {
  const db = await openDatabase(file);
  try {
    db.exec(sql);
  } finally {
    db.close();
  }
}

/** Each break in a copy of its own must be told, with what to do, and alone as far as it can be. */
export function describeBreaks(
  place: () => { readonly from: string; readonly folder: string; readonly more?: Partial<StoreOptions> },
  service: StoreName,
  breaks: readonly Break[],
): void {
  for (const [i, { check, level = "fault", name, says, sql }] of breaks.entries()) {
    it(`${service}: tells ${name}`, async () => {
      const { folder, from, more } = place();
      const dataDir = join(folder, `${service}-${i}`);
      await mkdir(dataDir);
      await copyFile(join(from, `${service}.sqlite`), join(dataDir, `${service}.sqlite`));
      await change(join(dataDir, `${service}.sqlite`), sql);
      const report = await examineStore(service, optionsAt(dataDir, more));
      const found =
        report?.findings.filter((finding) => finding.check === check && finding.level === level) ?? [];
      expect(found.map(({ what }) => what).join("\n"), JSON.stringify(report?.findings)).to.match(
        new RegExp(says),
      );
      for (const { todo } of found) expect(todo).to.match(/^[A-Z].{15,}/);
      if (level === "note")
        expect(report?.findings.filter((finding) => finding.level === "fault")).to.deep.equal([]);
    });
  }
}

export const schemaOf = (indexed: string): readonly Break[] => [
  {
    name: "a collection that an older version has written",
    sql: `UPDATE _collections SET declaration = json_remove(declaration, '$.indexes[0]') WHERE name = '${indexed}'`,
    ...{ level: "note", check: "schema", says: `earlier version has written the store: ${indexed}` },
  },
  {
    name: "one that a newer version has written",
    sql: `UPDATE _collections SET declaration = json_set(declaration, '$.fields.zzz', 'int?') WHERE name = 'checkpoints'`,
    ...{ check: "schema", says: "newer version has written checkpoints" },
  },
  {
    name: "one that was declared otherwise",
    sql: `UPDATE _collections SET declaration = json_set(declaration, '$.key[0]', 'other') WHERE name = 'checkpoints'`,
    ...{ check: "schema", says: "checkpoints: declared otherwise" },
  },
];
