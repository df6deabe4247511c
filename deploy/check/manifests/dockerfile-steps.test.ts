import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { readDockerignore } from "./build-context.ts";
import { buildImage } from "./dockerfile-steps.ts";

const IGNORE = ["*", "!package.json", "!src", "!tools/build", "**/*.test.ts", "**/test", ""].join("\n");
const FILES = {
  "package.json": "{}",
  "src/main.ts": "main",
  "src/main.test.ts": "a test",
  "src/test/data.ts": "of tests",
  "tools/build/run.sh": "mkdir dist && cat src/main.ts > dist/main.js",
  "tools/other/secret": "not for images",
};
const DOCKERFILE = `
# A comment
ARG BASE=node:22
FROM \${BASE} AS build
WORKDIR /app
COPY package.json ./
COPY src src
COPY tools tools
RUN sh tools/build/run.sh
FROM \${BASE}
ENV NODE_ENV=production NODE_OPTIONS="--a=1 --b"
WORKDIR /app
COPY --from=build /app/dist dist
COPY package.json ./
RUN mkdir /history && echo "$NODE_ENV" > /history/mode
USER 1000:1000
CMD ["node", "dist/main.js"]
`;

describe("steps of a Dockerfile", () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "steps-"));
    for (const [path, text] of Object.entries(FILES)) {
      await mkdir(dirname(join(folder, "tree", path)), { recursive: true });
      await writeFile(join(folder, "tree", path), text);
    }
  });
  after(() => rm(folder, { recursive: true, force: true }));
  const build = (text: string, name: string) =>
    buildImage(text, { root: join(folder, "tree"), dockerignore: IGNORE, folder: join(folder, name) });

  it("leave what the last stage copied and made, and what it sets", async () => {
    const built = await build(DOCKERFILE, "good");
    expect(built.faults).to.deep.equal([]);
    expect(await readdir(built.folder, { recursive: true })).to.have.members([
      "package.json",
      "dist",
      "dist/main.js",
    ]);
    expect(await readFile(join(built.folder, "dist/main.js"), "utf8")).to.equal("main");
    expect(built.env).to.deep.equal({ NODE_ENV: "production", NODE_OPTIONS: "--a=1 --b" });
    expect(await readFile(join(built.folder, "../history/mode"), "utf8")).to.equal("production\n");
  });

  it("see what enters the build context, and nothing else", async () => {
    await build(DOCKERFILE, "context");
    expect(await readdir(join(folder, "context/build/app"), { recursive: true })).to.have.members([
      ...["package.json", "src", "src/main.ts", "tools", "tools/build", "tools/build/run.sh"],
      ...["dist", "dist/main.js"],
    ]);
  });

  it("end with the first that fails, and say which and why", async () => {
    const missing = await build(DOCKERFILE.replace("COPY src src\n", ""), "missing");
    expect(missing.faults).to.have.length(1);
    expect(missing.faults[0]).to.contain("RUN sh tools/build/run.sh: ").and.contain("src/main.ts");
    const absent = await build(DOCKERFILE.replace("/app/dist", "/app/build"), "absent");
    expect(absent.faults.join()).to.contain("COPY --from=build /app/build dist: ");
  });
});

describe("a .dockerignore", () => {
  it("is read in the forms that this repository uses, and refused in others", () => {
    const { admitted, isLeftOut } = readDockerignore(IGNORE);
    expect(admitted).to.deep.equal(["package.json", "src", "tools/build"]);
    expect(["a.test.ts", "test", "tests", "main.ts"].map(isLeftOut)).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
    expect(() => readDockerignore("node_modules")).to.throw("must begin by ignoring everything");
    expect(() => readDockerignore("*\nsrc/*/x")).to.throw("src/*/x");
  });
});
