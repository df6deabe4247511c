import { expect } from "chai";
import { describe, it } from "mocha";
import { findDeadPaths } from "./doc-paths.ts";

const exists = (path: string) => ["gateway/main.ts", "docs/api.md"].includes(path);
const find = (text: string, path = "docs/page.md") => findDeadPaths({ path, text }, exists);

describe("paths in documents", () => {
  it("may name files that are there, by code span and by link", () =>
    expect(
      find("see `gateway/main.ts` and [the API](api.md#headers), https://a.example/x, `npm run x`"),
    ).to.deep.equal([]));

  it("fail where a file is not there, once each", () =>
    expect(find("`gateway/gone.ts`, `gateway/gone.ts`, [gone](gone.md)")).to.deep.equal([
      "docs/page.md names gateway/gone.ts, which is not there",
      "docs/page.md names docs/gone.md, which is not there",
    ]));

  it("are relative to the document in links, and to the repository in code spans", () => {
    expect(find("[API](docs/api.md)", "README.md")).to.deep.equal([]);
    expect(find("[API](docs/api.md)")).to.have.length(1);
  });
});
