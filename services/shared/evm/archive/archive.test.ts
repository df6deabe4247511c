import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gunzipSync, gzipSync } from "node:zlib";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import { PortalFailure } from "../../portal/failures.ts";
import type { PortalLine } from "../../portal/stream.ts";
import { ArchiveError, listArchiveFiles, readArchiveLines } from "./files.ts";
import { createFolderClient, openArchive } from "./folder-client.ts";
import { writeManifest } from "./manifest.ts";
import { ArchiveWriter } from "./writer.ts";

const hash = (n: number) => `0x${n.toString(16).padStart(64, "0")}`;
const A = hash(0xa);
const B = hash(0xb);

/** Every second block has a log of A; every third one of B, of another contract and transaction. */
function lineOf(number: number) {
  const log = (logIndex: number, topic: string) => ({
    ...{
      logIndex,
      transactionIndex: logIndex,
      address: `${topic.slice(0, 41)}${logIndex}`,
      data: "0x",
      topics: [topic],
    },
  });
  const logs = [...(number % 2 === 0 ? [log(0, A)] : []), ...(number % 3 === 0 ? [log(1, B)] : [])];
  const transactions = [0, 1].map((transactionIndex) => ({
    transactionIndex,
    from: `0x${transactionIndex}`,
  }));
  return { header: { number, hash: hash(number + 1), parentHash: hash(number) }, logs, transactions };
}

describe("recorded blocks", () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "chaintables-archive-"));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  async function write(from: number, to: number, blocksPerFile = 4): Promise<void> {
    const writer = new ArchiveWriter({ folder, blocksPerFile });
    for (let number = from; number <= to; number++) await writer.add(number, JSON.stringify(lineOf(number)));
    await writer.close();
  }

  async function stream(query: Record<string, unknown>, fromBlock = 0, toBlock = 10): Promise<PortalLine[]> {
    const { signal } = new AbortController();
    const lines: PortalLine[] = [];
    const client = createFolderClient(pathToFileURL(folder).href);
    for await (const part of client.stream({ fromBlock, toBlock, query, signal })) lines.push(...part);
    return lines;
  }

  const failure = (promise: Promise<unknown>) =>
    promise.then(
      () => undefined,
      (error: unknown) => error as Error,
    );

  it("are files of whole blocks with a block a line, named by their range", async () => {
    await write(7, 16);
    const names = ["0000000007-0000000010", "0000000011-0000000014", "0000000015-0000000016"];
    expect((await readdir(folder)).sort()).to.deep.equal(names.map((name) => `${name}.jsonl.gz`));
    const text = gunzipSync(await readFile(join(folder, `${names[0]}.jsonl.gz`))).toString();
    expect(text).to.equal([7, 8, 9, 10].map((number) => `${JSON.stringify(lineOf(number))}\n`).join(""));
  });

  it("leave nothing that counts when a recording is cut short", async () => {
    const writer = new ArchiveWriter({ folder, blocksPerFile: 4 });
    for (let number = 0; number < 6; number++) await writer.add(number, JSON.stringify(lineOf(number)));
    expect((await openArchive(folder)).last.number).to.equal(3);
    const error = await failure(writer.add(5, ""));
    expect(error?.message).to.equal("Cannot add block 5 after block 5");
  });

  it("are read in the order of their blocks, whatever the files are called, packed or not", async () => {
    const lines = (...numbers: number[]) => numbers.map((n) => JSON.stringify(lineOf(n))).join("\n");
    await writeFile(join(folder, "z.jsonl"), lines(0, 1, 2));
    await writeFile(join(folder, "a.jsonl.gz"), gzipSync(lines(3, 4)));
    await writeFile(join(folder, "readme.md"), "not blocks");
    expect((await listArchiveFiles(folder)).map(({ first }) => first)).to.deep.equal([0, 3]);
    const { first, last } = await openArchive(folder);
    expect([first, last]).to.deep.equal([
      { number: 0, hash: hash(1) },
      { number: 4, hash: hash(5) },
    ]);
  });

  it("come as a portal sends them: what is asked for, and the first and the last block", async () => {
    await write(0, 12);
    const some = await stream({ logs: [{ topic0: [B] }] }, 1, 10);
    expect(some.map(({ header, logs }) => [header.number, (logs as unknown[]).length])).to.deep.equal([
      [1, 0],
      [3, 1],
      [6, 1],
      [9, 1],
      [10, 0],
    ]);
    expect(some[1]?.transactions).to.deep.equal([{ transactionIndex: 1, from: "0x1" }]);
    const all = await stream({ logs: [{ topic0: [A, B] }], includeAllBlocks: true }, 5, 10);
    expect(all.map(({ header }) => header.number)).to.deep.equal([5, 6, 7, 8, 9, 10]);
    expect(all[1]?.logs).to.deep.equal(lineOf(6).logs);
    const [six] = await stream({ logs: [{ topic0: [A], address: [`${B.slice(0, 41)}1`] }] }, 6, 6);
    expect(six?.logs).to.deep.equal([]);
    expect((await stream({ logs: [] }, 6, 6))[0]?.logs).to.deep.equal([]);
    expect((await stream({ logs: [{}] }, 6, 6))[0]?.logs).to.have.length(2);
  });

  it("end with an error at a gap, after what is before it", async () => {
    await write(0, 3);
    await write(8, 12);
    const error = await failure(stream({ logs: [{}] }));
    expect(error)
      .to.be.instanceOf(PortalFailure)
      .and.to.have.property("message", `block 4 is not in ${folder}`);
  });

  it("answer no question that was not recorded", async () => {
    await write(0, 12);
    await writeManifest(folder, { chainId: 8453, topics: [A] });
    expect(await stream({ logs: [{ topic0: [A] }] })).to.have.length(6);
    for (const item of [{ topic0: [A, B] }, {}]) {
      const error = await failure(stream({ logs: [item] }));
      expect(error).to.be.instanceOf(PortalFailure).and.to.have.property("kind", "refused");
    }
    const contract = `${B.slice(0, 41)}1`;
    const addressed = { topics: [B], addresses: [contract] };
    await writeManifest(folder, { chainId: 8453, topics: [A], addressed });
    const both = await stream({ logs: [{ topic0: [A] }, { topic0: [B], address: [contract] }] });
    expect(both).to.have.length(8);
    for (const address of [undefined, [contract, `0x${"1".repeat(40)}`]])
      expect(
        await failure(stream({ logs: [{ topic0: [B], ...(address && { address }) }] })),
      ).to.have.property("kind", "refused");
    await writeManifest(folder, { chainId: 8453, topics: null });
    expect(await stream({ logs: [{}] })).to.have.length(8);
  });

  it("name file and line where they are broken", async () => {
    await write(0, 3);
    const path = join(folder, "0000000004-0000000005.jsonl");
    await writeFile(path, `${JSON.stringify(lineOf(4))}\n{"header":{"number":5,\n`);
    expect((await failure(openArchive(folder)))?.message).to.match(new RegExp(`^${path}, line 2: `));
    await writeFile(path, `${JSON.stringify({ header: { hash: "0x" } })}\n`);
    expect((await failure(listArchiveFiles(folder)))?.message).to.equal(
      `${path}, line 1: it has no header.number`,
    );
    await writeFile(path, "[]\n");
    expect((await failure(listArchiveFiles(folder)))?.message).to.equal(
      `${path}, line 1: it is no JSON object`,
    );
    await rm(path);
    const packed = join(folder, "0000000000-0000000003.jsonl.gz");
    await writeFile(packed, (await readFile(packed)).subarray(0, 60));
    const read = async () => {
      for await (const _ of readArchiveLines(packed));
    };
    const error = await failure(read());
    expect(error).to.be.instanceOf(ArchiveError);
    expect(error?.message).to.equal(`Cannot read ${packed}: unexpected end of file`);
    await rm(packed);
    expect((await failure(openArchive(folder)))?.message).to.contain("has no recorded blocks");
    const away = await failure(openArchive(join(folder, "away")));
    expect(away?.message).to.match(/^Cannot read .*away: ENOENT/);
  });
});
