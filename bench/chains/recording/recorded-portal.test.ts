import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { afterEach, beforeEach, describe, it } from "mocha";
import type { PortalBlocks } from "../../../deploy/devnet/portal/block.ts";
import type { Portal } from "../../../deploy/devnet/portal/portal.ts";
import {
  CONTRACT,
  hexOf,
  numbersOf,
  OTHER,
  plainBlock,
  plainBlocks,
  queryFor,
  send,
  startPlain,
} from "../../../deploy/devnet/portal/testkit.ts";
import { type RecordedPortal, startRecordedPortal } from "./recorded-portal.ts";

const WHOLE = { includeAllBlocks: true };

describe("the recording of a portal", () => {
  let folder: string;
  let fake: Portal;
  let portal: RecordedPortal | undefined;
  let warnings: string[];

  beforeEach(async () => {
    warnings = [];
    folder = await mkdtemp(join(tmpdir(), "recorded-portal-"));
    fake = await startPlain();
    portal = await start();
  });
  afterEach(async () => {
    await portal?.close();
    await fake.close();
    await rm(folder, { recursive: true, force: true });
  });

  const start = () => startRecordedPortal(fake.url, { folder, warn: (message) => warnings.push(message) });
  const ask = (query: Record<string, unknown>, url = portal?.url) =>
    send(`${url}/finalized-stream`, { body: queryFor(query) });

  /** As a later process has it: with what is in the folder. */
  async function restart(): Promise<void> {
    await portal?.close();
    portal = await start();
  }

  /** Until an answer that has ended is in the folder, too. */
  async function filesOf(count: number): Promise<string[]> {
    for (let tries = 0; tries < 200; tries++) {
      const names = await readdir(folder);
      if (names.length === count && names.every((name) => name.endsWith(".answer"))) return names;
      await sleep(10);
    }
    return readdir(folder);
  }

  it("answers any range of whole blocks from what others brought, byte for byte, without the portal", async () => {
    await ask({ ...WHOLE, fromBlock: 0, toBlock: 30 });
    await ask({ ...WHOLE, fromBlock: 31, toBlock: 60 });
    await filesOf(2);
    await restart();
    const before = fake.requests();
    const got: string[] = [];
    for (const [fromBlock, toBlock] of [
      [0, 30],
      [7, 7],
      [20, 45],
      [31, 60],
    ]) {
      const answer = await ask({ ...WHOLE, fromBlock, toBlock });
      expect(answer.isWhole).to.equal(true);
      expect(answer.headers["x-sqd-finalized-head-number"]).to.equal("100");
      got.push(answer.text);
    }
    expect(fake.requests()).to.equal(before);
    expect(portal?.answers()).to.deep.equal({ recorded: 4, made: 0 });
    expect(portal?.requests()).to.equal(4);
    const own = await ask({ ...WHOLE, fromBlock: 20, toBlock: 45 }, fake.url);
    expect(got[2]).to.equal(own.text);
    expect(numbersOf(got[1] as string)).to.deep.equal([7]);
    for (const name of ["content-type", "content-encoding", "transfer-encoding", "x-sqd-data-source"])
      expect((await ask({ ...WHOLE, fromBlock: 3, toBlock: 9 })).headers[name]).to.equal(own.headers[name]);
  });

  it("asks the portal where one block is missing, and then has it", async () => {
    await ask({ ...WHOLE, fromBlock: 10, toBlock: 20 });
    await filesOf(1);
    const made = await ask({ ...WHOLE, fromBlock: 5, toBlock: 21 });
    await filesOf(2);
    const again = await ask({ ...WHOLE, fromBlock: 5, toBlock: 21 });
    expect(again.text).to.equal(made.text);
    expect(portal?.answers()).to.deep.equal({ recorded: 1, made: 2 });
  });

  it("answers a query of some blocks only for the same range", async () => {
    const made = await ask({ fromBlock: 2, toBlock: 10 });
    await filesOf(1);
    await restart();
    expect((await ask({ fromBlock: 2, toBlock: 10 })).text).to.equal(made.text);
    expect(numbersOf((await ask({ fromBlock: 2, toBlock: 9 })).text)).to.deep.equal([2, 3, 6, 9]);
    expect(portal?.answers()).to.deep.equal({ recorded: 1, made: 1 });
  });

  it("passes through what is no answer of blocks, and records none of it", async () => {
    const head = await send(`${portal?.url}/finalized-head`);
    expect(head.text).to.equal(JSON.stringify({ number: 100, hash: plainBlock(100).header.hash }));
    expect((await ask({ ...WHOLE, fromBlock: 101, toBlock: 110 })).status).to.equal(204);
    expect((await ask({ ...WHOLE, fromBlock: 0, toBlock: 9, unknown: 1 })).status).to.equal(400);
    expect((await send(`${portal?.url}/finalized-stream`, { body: "no JSON" })).status).to.equal(400);
    fake.force("overloaded");
    expect((await ask({ ...WHOLE, fromBlock: 0, toBlock: 9 })).status).to.equal(529);
    expect(portal?.answers()).to.deep.equal({ recorded: 0, made: 0 });
    expect(await readdir(folder)).to.deep.equal([]);
  });

  it("keeps nothing of an answer that the portal cut off", async () => {
    fake.force("resetBody");
    expect((await ask({ ...WHOLE, fromBlock: 0, toBlock: 90 })).isWhole).to.equal(false);
    fake.force("truncatedGzip");
    await ask({ ...WHOLE, fromBlock: 0, toBlock: 90 });
    await sleep(50);
    expect(await readdir(folder)).to.deep.equal([]);
    expect(portal?.answers()).to.deep.equal({ recorded: 0, made: 2 });
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include("from block 0 is not recorded");
  });

  it("keeps nothing of an answer that its client gave up, which ends at the portal, too", async () => {
    let read = 0;
    // Random data is not packed: the connection is full after some hundred blocks.
    const data = (number: number) => ({ ...plainBlock(3).logs[0], data: hexOf(30_000, number) });
    const make = (number: number) => ({ ...plainBlock(number), logs: [data(number)] });
    const blocks: PortalBlocks = {
      head: plainBlocks(2_000).head,
      async *read(from, to) {
        for (let number = from; number <= to; number++) {
          read += 1;
          yield make(number);
        }
      },
    };
    fake.serve(blocks);
    const body = queryFor({ ...WHOLE, logs: [{ address: [CONTRACT] }], fromBlock: 0, toBlock: 2_000 });
    const sent = request(`${portal?.url}/finalized-stream`, { method: "POST", agent: false });
    sent.end(body);
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    await once(answer, "readable");
    // Nobody reads on: the portal must wait.
    for (let last = -1; last !== read; await sleep(300)) last = read;
    const waiting = read;
    expect(waiting).to.be.within(1, 1_999);
    answer.on("error", () => {}).destroy();
    await sleep(300);
    expect(read).to.be.below(2_000);
    expect(await readdir(folder)).to.deep.equal([]);
    expect(portal?.answers().recorded).to.equal(0);
  });

  it("gives up what its client gives up before the portal has answered", async () => {
    const silent = createServer();
    silent.listen(0, "127.0.0.1");
    await once(silent, "listening");
    const before = await startRecordedPortal(
      `http://127.0.0.1:${(silent.address() as AddressInfo).port}/datasets/x`,
      {
        folder,
      },
    );
    const arrived = once(silent, "request");
    const sent = request(`${before.url}/finalized-stream`, { method: "POST", agent: false });
    sent.on("error", () => {}).end(queryFor({ ...WHOLE, fromBlock: 0, toBlock: 9 }));
    const [asked] = (await arrived) as [IncomingMessage];
    sent.destroy();
    await once(asked.socket, "close");
    await before.close();
    silent.close();
  });

  it("replaces what an earlier client asked for the same blocks in other words, and only that", async () => {
    await ask({ fromBlock: 0, toBlock: 60 });
    const [some] = (await filesOf(1)) as [string];
    await ask({ ...WHOLE, fromBlock: 31, toBlock: 60 });
    const used = (await filesOf(2)).find((name) => name !== some) as string;
    await ask({ ...WHOLE, fromBlock: 0, toBlock: 30 });
    const names = await filesOf(3);
    await restart();
    const longAgo = new Date(Date.now() - 2 * 3_600_000);
    for (const name of names) await utimes(join(folder, name), longAgo, longAgo);
    // What was used of late, by any process, may be used again.
    await ask({ ...WHOLE, fromBlock: 40, toBlock: 50 });
    await restart();
    const other = { ...WHOLE, logs: [{ address: [OTHER] }] };
    await ask({ ...other, fromBlock: 0, toBlock: 20 });
    expect(await filesOf(3)).to.include.members([used, some]);
    await ask({ ...other, fromBlock: 21, toBlock: 60 });
    expect(await filesOf(4)).to.include.members([used, some]);
    const own = await ask({ ...other, fromBlock: 0, toBlock: 60 }, fake.url);
    expect((await ask({ ...other, fromBlock: 0, toBlock: 60 })).text).to.equal(own.text);
    expect(portal?.answers()).to.deep.equal({ recorded: 1, made: 2 });
  });

  it("asks the portal for what another process has taken away", async () => {
    const made = await ask({ ...WHOLE, fromBlock: 0, toBlock: 30 });
    const [name] = await filesOf(1);
    await rm(join(folder, name as string));
    expect((await ask({ ...WHOLE, fromBlock: 0, toBlock: 30 })).text).to.equal(made.text);
    expect(portal?.answers()).to.deep.equal({ recorded: 0, made: 2 });
  });

  it("makes again what is broken, and takes no file that is not whole", async () => {
    const made = await ask({ ...WHOLE, fromBlock: 0, toBlock: 30 });
    const [name] = (await filesOf(1)) as [string];
    const path = join(folder, name);
    const bytes = await readFile(path);
    await writeFile(path, bytes.subarray(0, -100));
    await writeFile(`${path}.1.tmp`, bytes);
    await writeFile(`${path}.2.tmp`, bytes);
    const longAgo = new Date(Date.now() - 3_600_000);
    await utimes(`${path}.2.tmp`, longAgo, longAgo);
    await restart();
    // The first may be of a process that is writing it.
    expect(await readdir(folder)).to.deep.equal([`${name}.1.tmp`]);
    expect((await ask({ ...WHOLE, fromBlock: 0, toBlock: 30 })).text).to.equal(made.text);
    expect(portal?.answers()).to.deep.equal({ recorded: 0, made: 1 });
  });
});
