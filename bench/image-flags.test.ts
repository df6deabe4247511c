import { readFileSync } from "node:fs";
import { expect } from "chai";
import { describe, it } from "mocha";
import { INGEST_MALLOC } from "../services/shared/process/malloc.ts";
import { IMAGE_FLAGS, INGEST_FLAGS } from "./image-flags.ts";

const textOf = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), "utf8");

describe("what benches start processes with", () => {
  it("is what the image starts every process with", () => {
    const [, options] = /NODE_OPTIONS="([^"]*)"/.exec(textOf("deploy/Dockerfile")) ?? [];
    expect(IMAGE_FLAGS).to.deep.equal(options?.split(" "));
  });

  for (const path of ["deploy/k8s/base/evm-dex-ingest.yaml", "docker-compose.yml"]) {
    it(`is what ${path} starts an EVM ingest with`, () => {
      const text = textOf(path);
      const [, command] =
        /command:\s*\[\s*"?node"?,([^\]]*?),\s*"?dist\/services\/evm-dex\/ingest\//.exec(text) ?? [];
      expect(command?.split(",").map((flag) => flag.trim().replaceAll('"', ""))).to.deep.equal(INGEST_FLAGS);
      for (const [name, value] of Object.entries(INGEST_MALLOC))
        expect(text).to.match(new RegExp(`${name}(: |, value: )"${value}"`));
    });
  }
});
