import { expect } from "chai";
import { before, describe, it } from "mocha";
import { type RecordedBlock, readRecordedBlocks } from "../testkit/recorded-blocks.ts";
import { computeHeaderHash } from "./header-hash.ts";
import { computeReceiptsRoot } from "./receipts-root.ts";
import { encodeRlp, quantityBytes, toHex } from "./rlp.ts";
import { listRoot } from "./trie-root.ts";

const text = (words: string) => new TextEncoder().encode(words);

describe("encodeRlp", () => {
  it("encodes the examples of the specification", () => {
    expect(toHex(encodeRlp(text("dog")))).to.equal("0x83646f67");
    expect(toHex(encodeRlp([text("cat"), text("dog")]))).to.equal("0xc88363617483646f67");
    expect(toHex(encodeRlp(text("")))).to.equal("0x80");
    expect(toHex(encodeRlp([]))).to.equal("0xc0");
    expect(toHex(encodeRlp([[], [[]], [[], [[]]]]))).to.equal("0xc7c0c1c0c3c0c1c0");
    expect([0, 15, 127, 128, 1024].map((number) => toHex(encodeRlp(quantityBytes(number))))).to.deep.equal([
      "0x80",
      "0x0f",
      "0x7f",
      "0x8180",
      "0x820400",
    ]);
  });

  it("writes the length of what is longer than 55 bytes before it", () => {
    const bytes = (length: number) => new Uint8Array(length).fill(97);
    expect(toHex(encodeRlp(bytes(55))).slice(0, 6)).to.equal("0xb761");
    expect(toHex(encodeRlp(bytes(56))).slice(0, 8)).to.equal("0xb83861");
    expect(toHex(encodeRlp(bytes(1024))).slice(0, 10)).to.equal("0xb9040061");
    expect(toHex(encodeRlp([bytes(55)])).slice(0, 8)).to.equal("0xf838b7");
  });
});

describe("listRoot", () => {
  it("of an empty list is the hash of nothing", () => {
    expect(listRoot([])).to.equal("0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421");
  });
});

describe("computeReceiptsRoot", () => {
  const bloom = `0x${"00".repeat(256)}`;
  const deposit = { type: "0x7e", status: "0x1", cumulativeGasUsed: "0x5208", logsBloom: bloom, logs: [] };
  const fields = [Uint8Array.of(1), Uint8Array.of(0x52, 0x08), new Uint8Array(256), []];
  const rootOf = (items: Parameters<typeof encodeRlp>[0]) =>
    listRoot([Buffer.concat([Uint8Array.of(0x7e), encodeRlp(items)])]);

  it("has a deposit's nonce only with a version, as since Canyon", () => {
    const root = rootOf(fields);
    expect(computeReceiptsRoot([deposit])).to.equal(root);
    expect(computeReceiptsRoot([{ ...deposit, depositNonce: "0x7" }])).to.equal(root);
    const canyon = { ...deposit, depositNonce: "0x7", depositReceiptVersion: "0x1" };
    expect(computeReceiptsRoot([canyon])).to.equal(rootOf([...fields, Uint8Array.of(7), Uint8Array.of(1)]));
    expect(computeReceiptsRoot([{ ...canyon, type: "0x2" }])).to.not.equal(root);
  });

  it("has the state's root in place of the status before Byzantium, and the bloom of the logs if there is none", () => {
    const { status: _, logsBloom: __, ...old } = deposit;
    const root = `0x${"ab".repeat(32)}`;
    const expected = rootOf([Buffer.alloc(32, 0xab), ...fields.slice(1)]);
    expect(computeReceiptsRoot([{ ...old, root }])).to.equal(expected);
  });

  it("is undefined where a receipt is malformed", () => {
    for (const wrong of [null, {}, { ...deposit, logs: [{}] }, { ...deposit, type: "0x80" }])
      expect(computeReceiptsRoot([wrong])).to.equal(undefined);
  });
});

describe("proofs of recorded blocks", () => {
  let blocks: RecordedBlock[];

  before(function () {
    blocks = readRecordedBlocks(this);
  });

  it("has blocks of several forks", () => {
    const kinds = new Set(
      blocks.map(({ block }) => ["baseFeePerGas", "withdrawalsRoot"].filter((name) => name in block).length),
    );
    expect([...kinds].sort()).to.deep.equal([0, 1, 2]);
  });

  it("computes their hashes", () => {
    for (const { source, block } of blocks) expect(computeHeaderHash(block), source).to.equal(block.hash);
  });

  it("computes another hash for any other field, and none without one", () => {
    const { block } = blocks[0] as RecordedBlock;
    const other = { ...block, timestamp: `0x${(Number(block.timestamp) + 1).toString(16)}` };
    expect(computeHeaderHash(other)).to.be.a("string").and.not.equal(block.hash);
    const { stateRoot: _, ...without } = block;
    expect(computeHeaderHash(without)).to.equal(undefined);
    expect(computeHeaderHash({ ...block, gasUsed: "0xzz" })).to.equal(undefined);
    expect(computeHeaderHash({ ...block, requestsHash: block.stateRoot })).to.equal(undefined);
  });

  it("takes quantities and the nonce as numbers, too", () => {
    const merged = blocks.filter(({ block }) => /^0x0+$/.test(String(block.nonce)));
    expect(merged).to.not.have.length(0);
    for (const { block } of merged) {
      const numbers = { number: Number(block.number), timestamp: Number(block.timestamp), nonce: 0 };
      expect(computeHeaderHash({ ...block, ...numbers })).to.equal(block.hash);
      expect(computeHeaderHash({ ...block, nonce: "0x0" })).to.equal(block.hash);
    }
  });

  it("computes their receipts' roots", () => {
    for (const { source, block, receipts } of blocks)
      expect(computeReceiptsRoot(receipts), source).to.equal(block.receiptsRoot);
  });

  it("computes another root without a log, or without a receipt", () => {
    const busy = blocks.filter(({ receipts }) => receipts.length > 1);
    expect(busy).to.not.have.length(0);
    for (const { block, receipts } of busy) {
      expect(computeReceiptsRoot(receipts.slice(1))).to.not.equal(block.receiptsRoot);
      const at = receipts.findIndex(({ logs }) => logs.length > 0);
      if (at < 0) continue;
      const short = receipts.map((receipt, i) =>
        i === at ? { ...receipt, logs: receipt.logs.slice(1) } : receipt,
      );
      expect(computeReceiptsRoot(short)).to.not.equal(block.receiptsRoot);
    }
  });
});
