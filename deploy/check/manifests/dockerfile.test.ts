import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { describe, it } from "mocha";
import { ROOT } from "../command.ts";
import { findDockerfileFaults } from "./dockerfile.ts";
import { PROCESSES } from "./process.testkit.ts";

const TEXT = readFileSync(join(ROOT, "deploy/Dockerfile"), "utf8");
const { scripts } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { scripts: object };
const TREE = {
  root: ROOT,
  dockerignore: readFileSync(join(ROOT, ".dockerignore"), "utf8"),
  scripts: new Set(Object.keys(scripts)),
  processes: PROCESSES,
};

const BREAKAGES: readonly (readonly [string, string, string])[] = [
  ["COPY proto proto", "COPY protos proto", "COPY protos proto: protos does not exist"],
  ["COPY proto proto", "COPY bench proto", "COPY bench proto: .dockerignore keeps bench out"],
  ["--from=build", "--from=builder", "COPY --from=builder /app/dist dist: there is no stage builder above"],
  ["RUN npm run build", "RUN npm run bild", "RUN npm run bild: there is no script bild"],
  ["USER 1000:1000", "USER node", "USER is node, not the number"],
  ["USER 1000:1000\n", "", "USER is root, not the number"],
  ["dist/gateway/main.js", "gateway/main.js", 'CMD ["node", "gateway/main.js"] is no process'],
  [
    "=node:22-",
    "=node:20-",
    "FROM node:20-bookworm-slim@sha256:83f487e0a63425e5b4d146fb5e5be574bcbe1b7b843d3ebafdd95eaf7767a7e5: older",
  ],
  [
    "=node:22-",
    "=node:24-",
    "FROM node:24-bookworm-slim@sha256:83f487e0a63425e5b4d146fb5e5be574bcbe1b7b843d3ebafdd95eaf7767a7e5: the flags of the EVM ingest are for Node 22",
  ],
  [
    /@sha256:\w+/.exec(TEXT)?.[0] ?? "none",
    "",
    "FROM node:22-bookworm-slim: no release line of Node with a digest",
  ],
  ["FROM ${NODE_IMAGE} AS dependencies", "FROM node:22-alpine AS dependencies", "stages begin with 2 images"],
  ["ENV NODE_ENV=production", "ADD x y", "ADD is no instruction"],
];

describe("Dockerfile", () => {
  it("copies what exists, runs a process, and not as root", () =>
    expect(findDockerfileFaults(TEXT, TREE)).to.deep.equal([]));

  for (const [from, to, fault] of BREAKAGES) {
    it(`refused with ${JSON.stringify(to || `no ${from.trim()}`)}: ${fault}`, () => {
      expect(TEXT).to.include(from);
      const faults = findDockerfileFaults(TEXT.replace(from, to), TREE);
      expect(
        faults.filter((found) => found.startsWith(fault)),
        faults.join("\n"),
      ).to.have.length(1);
    });
  }
});
