import { expect } from "chai";
import { describe, it } from "mocha";
import { BlockAssembler, LateTransactionError } from "./block-assembler.ts";
import type { BlockMessage, TransactionInBlockMessage } from "./wire.ts";

const HASH = "a block's hash";

function transaction(index: number, signature = index): TransactionInBlockMessage {
  return { signature: Uint8Array.of(signature), isVote: false, index };
}

function block(slot: number, blockhash = HASH): BlockMessage {
  const parent = { parentSlot: slot - 1, parentBlockhash: "its parent's" };
  return { slot, blockhash, ...parent, transactions: [], executedTransactionCount: 9, entriesCount: 1 };
}

function send(to: BlockAssembler, slot: number, ...transactions: TransactionInBlockMessage[]): void {
  for (const each of transactions) to.addTransaction({ slot, transaction: each });
}

const places = (made: BlockMessage | undefined) => made?.transactions.map(({ index }) => index);

describe("BlockAssembler", () => {
  it("makes a block of what came before it", () => {
    const assembler = new BlockAssembler({ isReplay: true });
    send(assembler, 5, transaction(1), transaction(4));
    expect(places(assembler.addBlock(block(5)))).to.deep.equal([1, 4]);
    expect(places(assembler.addBlock(block(6)))).to.deep.equal([]);
  });

  it("does not use the first block of a connection that may have begun within it", () => {
    const assembler = new BlockAssembler({ isReplay: false });
    send(assembler, 5, transaction(4));
    expect(assembler.addBlock(block(5))).to.equal(undefined);
    send(assembler, 6, transaction(2));
    expect(places(assembler.addBlock(block(6)))).to.deep.equal([2]);
  });

  it("finds a transaction that comes after its block, with the next block", () => {
    const assembler = new BlockAssembler({ isReplay: true });
    send(assembler, 5, transaction(1));
    assembler.addBlock(block(5));
    send(assembler, 5, transaction(2));
    send(assembler, 6, transaction(1));
    expect(() => assembler.addBlock(block(6)))
      .to.throw(LateTransactionError)
      .with.property("slot", 5);
  });

  it("finds one that comes long after its block", () => {
    const assembler = new BlockAssembler({ isReplay: true });
    for (let slot = 5; slot < 60; slot++) assembler.addBlock(block(slot));
    send(assembler, 6, transaction(2));
    expect(() => assembler.addBlock(block(60)))
      .to.throw(LateTransactionError)
      .with.property("slot", 6);
  });

  it("takes what comes again, as where a replay meets the head, for what it is", () => {
    const assembler = new BlockAssembler({ isReplay: true });
    send(assembler, 5, transaction(1), transaction(2));
    assembler.addBlock(block(5));
    send(assembler, 5, transaction(1), transaction(2));
    expect(assembler.addBlock(block(5))).to.equal(undefined);
    // The head was within the slot.
    send(assembler, 5, transaction(2));
    expect(places(assembler.addBlock(block(6)))).to.deep.equal([]);
  });

  it("finds a late transaction among those that come again", () => {
    const assembler = new BlockAssembler({ isReplay: true });
    send(assembler, 5, transaction(1));
    assembler.addBlock(block(5));
    send(assembler, 5, transaction(1), transaction(2));
    expect(() => assembler.addBlock(block(5))).to.throw(LateTransactionError);
  });

  it("makes another fork's block of the same slot of that fork's transactions", () => {
    const assembler = new BlockAssembler({ isReplay: true });
    send(assembler, 5, transaction(1), transaction(2));
    assembler.addBlock(block(5));
    send(assembler, 5, transaction(1), transaction(2, 77), transaction(3));
    expect(places(assembler.addBlock(block(5, "another")))).to.deep.equal([1, 2, 3]);
  });

  it("does not make a block of which it has dropped transactions", () => {
    const assembler = new BlockAssembler({ isReplay: true });
    for (let slot = 5; slot < 60; slot++) send(assembler, slot, transaction(1));
    expect(() => assembler.addBlock(block(6))).to.throw("had not all come");
    expect(places(assembler.addBlock(block(59)))).to.deep.equal([1]);
  });
});
