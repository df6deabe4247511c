import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { describe, it } from "mocha";
import { catalogue } from "../gateway/catalogue.ts";
import { findOpenApiErrors } from "../services/shared/contract/testkit/openapi-schema.ts";
import { generate, renderOpenApi } from "./generate.ts";

describe("proto/openapi.json", () => {
  it("matches the declarations", async () => {
    const onDisk = await readFile(new URL("./openapi.json", import.meta.url), "utf8");
    expect(onDisk === renderOpenApi(), "run proto/generate.ts").to.equal(true);
  });

  it("is written whole, and a file that is missing or differs is named", async () => {
    const folder = await mkdtemp(join(tmpdir(), "openapi-"));
    const file = pathToFileURL(join(folder, "openapi.json"));
    try {
      expect(await generate({ check: true, file })).to.contain("is missing");
      expect(await generate({ check: false, file })).to.equal(undefined);
      expect(await generate({ check: true, file })).to.equal(undefined);
      expect((await readFile(file, "utf8")) === renderOpenApi()).to.equal(true);
      await writeFile(file, `${renderOpenApi()} `);
      expect(await generate({ check: true, file })).to.contain("differs from the declarations");
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("is a sound OpenAPI 3.0.0 document of all 37 endpoints and the gateway's own pages", () => {
    const document = JSON.parse(renderOpenApi());
    expect(findOpenApiErrors(document)).to.deep.equal([]);
    const own = ["/usage", "/status", "/readyz", "/livez"];
    expect(Object.keys(document.paths)).to.have.members([...catalogue.map(({ path }) => path), ...own]);
    expect(catalogue).to.have.length(37);
  });

  it("ends in one line break and names no host", () => {
    expect(renderOpenApi()).to.match(/[^\n]\n$/);
    expect(JSON.parse(renderOpenApi()).servers).to.deep.equal([{ url: "/" }]);
  });
});
