import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { findMisspeltSettings } from "./misspelt-settings.ts";
import { redactSecrets } from "./secrets.ts";
import { ConfigError, readSettings } from "./settings.ts";

describe("secrets in files", () => {
  let folder: string;
  let file: string;
  const URL = "mongodb://user:a-password-of-a-file@host:27017/?replicaSet=rs0";
  const read = (env: Record<string, string>) => readSettings(env, ["MONGODB_URL"]).MONGODB_URL;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "secrets-"));
    file = join(folder, "mongodb_url");
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it("are read with their line's end cut, kept out of logs, and checked like others", () => {
    writeFileSync(file, `${URL}\n`);
    expect(read({ MONGODB_URL_FILE: file })).to.equal(URL);
    expect(redactSecrets("a-password-of-a-file")).to.equal("[secret]");
    writeFileSync(file, "https://host");
    expect(() => read({ MONGODB_URL_FILE: file })).to.throw(
      ConfigError,
      "Cannot read MONGODB_URL: it must be",
    );
  });

  it("count as unset where they are empty, and name what is wrong", () => {
    writeFileSync(file, "\n");
    expect(read({ MONGODB_URL_FILE: file })).to.equal(undefined);
    const missing = join(folder, "none");
    expect(() => read({ MONGODB_URL_FILE: missing })).to.throw(
      ConfigError,
      `MONGODB_URL_FILE=${missing}: ENOENT`,
    );
    expect(() => read({ MONGODB_URL_FILE: file, MONGODB_URL: URL })).to.throw(ConfigError, "both set");
  });

  it("exist for settings with credentials alone", () => {
    const plain = readSettings({ LOG_LEVEL_FILE: file }, ["LOG_LEVEL"]);
    expect(plain.LOG_LEVEL).to.equal("info");
    expect(findMisspeltSettings({ MONGODB_URL_FILE: file })).to.deep.equal({ problems: [], warnings: [] });
  });
});
