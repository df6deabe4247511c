import { expect } from "chai";
import { after, before, describe, it } from "mocha";
import { type Hex, keccak256, toRlp } from "viem";
import { createTestChain, type TestChain } from "../testkit.ts";
import { type Portal, startPortal } from "./portal.ts";
import { rpcBlocks } from "./rpc-blocks.ts";
import { linesOf, type PortalLine, send } from "./testkit.ts";

const SWAP = "0xc42079f94a6350d7e6235f29174924f928cc2ac818eb64fed8004e115fbcca67";
const HEADER =
  "parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty number gasLimit gasUsed " +
  "timestamp extraData mixHash nonce baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas parentBeaconBlockRoot " +
  "requestsHash";
const QUANTITIES = new Set(
  "difficulty number gasLimit gasUsed timestamp baseFeePerGas blobGasUsed excessBlobGas".split(" "),
);

const all = (names: string) => Object.fromEntries(names.split(" ").map((name) => [name, true]));
const FIELDS = {
  block: all(`hash size ${HEADER}`),
  transaction: all("transactionIndex hash from to nonce value type status gasUsed sighash"),
  log: all("logIndex transactionIndex transactionHash address topics data"),
};

/** A header as the chain hashes it: fields of later forks come last and may be absent. */
function hashOf(header: PortalLine["header"]): Hex {
  const fields = HEADER.split(" ").filter((name) => header[name] !== undefined);
  const items = fields.map((name): Hex => {
    if (!QUANTITIES.has(name)) return header[name] as Hex;
    const value = BigInt(header[name] as string | number);
    const hex = value.toString(16);
    return value === 0n ? "0x" : `0x${hex.length % 2 === 1 ? "0" : ""}${hex}`;
  });
  return keccak256(toRlp(items));
}

describe("local portal over a node", () => {
  let chain: TestChain;
  let portal: Portal;

  before(async () => {
    chain = await createTestChain({ finalDepth: 2 });
    for (let i = 0; i < 4; i++) {
      await chain.send(chain.randomActions(i, 5));
      await chain.mine();
    }
    portal = await startPortal({ blocks: rpcBlocks(chain.url), rateLimit: null });
  });

  after(async () => {
    await portal.close();
    await chain.stop();
  });

  const stream = async (query: Record<string, unknown>) => {
    const body = JSON.stringify({ type: "evm", fields: FIELDS, ...query });
    return send(`${portal.url}/stream`, { body });
  };

  /** An answer is of the archive or of the real-time source: a client asks again from where it ended. */
  const everything = async (query: Record<string, unknown>) => {
    const lines: PortalLine[] = [];
    for (let fromBlock = 0; ; fromBlock = Number(lines.at(-1)?.header.number) + 1) {
      const { status, text } = await stream({ ...query, fromBlock });
      if (status === 204) return lines;
      lines.push(...linesOf(text));
    }
  };

  it("has every field that a header's hash is made of", async () => {
    const lines = await everything({ includeAllBlocks: true });
    const head = Number(await chain.anvil.rpc.call("eth_blockNumber"));
    expect(lines).to.have.length(head + 1);
    for (const { header } of lines) expect(hashOf(header), `block ${header.number}`).to.equal(header.hash);
    const parents = lines.slice(1).map(({ header }) => header.parentHash);
    expect(parents).to.deep.equal(lines.slice(0, -1).map(({ header }) => header.hash));
    expect(lines[1]?.header.number).to.equal(1);
    expect(lines[1]?.header.timestamp).to.be.a("number");
    expect(lines[1]?.header.gasUsed).to.match(/^0x/);
  });

  it("has the node's logs and senders, in the portal's form", async () => {
    const lines = await everything({ logs: [{ topic0: [SWAP], transaction: true }] });
    const raw = await chain.anvil.rpc.call<Record<string, unknown>[]>("eth_getLogs", [
      { fromBlock: "0x0", topics: [SWAP] },
    ]);
    expect(raw.length).to.be.greaterThan(5);
    const expected = raw.map(({ logIndex, transactionIndex, transactionHash, address, topics, data }) => ({
      ...{ logIndex: Number(logIndex), transactionIndex: Number(transactionIndex), transactionHash },
      ...{ address, data, topics },
    }));
    expect(lines.flatMap(({ logs = [] }) => logs)).to.deep.equal(expected);
    for (const { transactions = [] } of lines) {
      for (const each of transactions) {
        const own = await chain.anvil.rpc.call<Record<string, string>>("eth_getTransactionByHash", [
          each.hash,
        ]);
        expect(each).to.include({ from: own.from, to: own.to, nonce: Number(own.nonce), status: 1 });
        expect(each.sighash).to.equal(own.input?.slice(0, 10));
      }
    }
    expect(lines.flatMap(({ transactions = [] }) => transactions).length).to.be.greaterThan(5);
  });

  it("serves the node's finalized blocks as the archive, and a reorg as a fork", async () => {
    const head = Number(await chain.anvil.rpc.call("eth_blockNumber"));
    const final = await chain.anvil.rpc.call<{ number: string; hash: string }>("eth_getBlockByNumber", [
      "finalized",
      false,
    ]);
    const finalized = JSON.parse((await send(`${portal.url}/finalized-head`)).text);
    expect(finalized).to.deep.equal({ number: Number(final.number), hash: final.hash });
    expect(finalized.number).to.equal(head - 2);
    const before = linesOf((await stream({ fromBlock: head - 1, includeAllBlocks: true })).text);
    await chain.reorg(1, { transactionsPerBlock: 2, seed: 9 });
    const fork = await stream({ fromBlock: head + 1, parentBlockHash: before.at(-1)?.header.hash });
    expect(fork.status).to.equal(409);
    const { previousBlocks } = JSON.parse(fork.text) as {
      previousBlocks: { number: number; hash: string }[];
    };
    const common = previousBlocks.find(({ number }) => number === head - 1);
    expect(common?.hash).to.equal(before[0]?.header.hash);
    expect(previousBlocks.find(({ number }) => number === head)?.hash).not.to.equal(before[1]?.header.hash);
  });
});
