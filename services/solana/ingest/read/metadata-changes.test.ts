import { expect } from "chai";
import { describe, it } from "mocha";
import { encodeBase58 } from "../../../shared/contract/base58.ts";
import type { SolanaTransaction } from "../../chain/port.ts";
import { METADATA_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../chain/program-address.ts";
import { fakeKey } from "../../chain/testkit/fake-chain.ts";
import { findMetadataChanges } from "./metadata-changes.ts";

const ACCOUNTS = Array.from({ length: 5 }, (_, i) => fakeKey(1, i));
const KEYS = [...ACCOUNTS, TOKEN_PROGRAM, TOKEN_2022_PROGRAM];
/** From a lookup table. */
const LOADED = [METADATA_PROGRAM, fakeKey(2, 0)];

interface Call {
  readonly program: string;
  readonly data: readonly number[];
  readonly accounts?: readonly number[];
}

function transaction(
  calls: readonly Call[],
  { err, isInner }: { err?: unknown; isInner?: boolean } = {},
): SolanaTransaction {
  const keys = [...KEYS, ...LOADED];
  const instructions = calls.map(({ program, data, accounts = [1, 2, 3, 4, 0] }) => ({
    programIdIndex: keys.indexOf(program),
    accounts,
    data: encodeBase58(Uint8Array.from(data)),
  }));
  return {
    transaction: {
      signatures: ["s"],
      message: { accountKeys: KEYS, instructions: isInner === true ? [] : instructions },
    },
    meta: {
      err: err ?? null,
      fee: 0,
      preBalances: [],
      postBalances: [],
      innerInstructions: isInner === true ? [{ index: 0, instructions }] : [],
      loadedAddresses: { writable: [LOADED[0] as string], readonly: [LOADED[1] as string] },
    },
  };
}

const authority = (kind: number) => [6, kind, 1, ...new Array(32).fill(7)];

describe("accounts of tokens' properties that instructions may have changed", () => {
  it("are mints whose authority to mint or freeze is another, or given up, in both token programs", () => {
    for (const program of [TOKEN_PROGRAM, TOKEN_2022_PROGRAM]) {
      for (const data of [authority(0), authority(1), [6, 0, 0]])
        expect(findMetadataChanges([transaction([{ program, data }])])).to.deep.equal([ACCOUNTS[1]]);
    }
  });

  it("are no token accounts that go to another wallet, and none that tokens are moved between", () => {
    const transfer = [3, ...new Array(8).fill(200)];
    const checked = [12, ...new Array(8).fill(255), 9];
    for (const data of [
      authority(2),
      authority(3),
      transfer,
      checked,
      [9],
      [17],
      [18, ...new Array(32).fill(5)],
    ])
      expect(
        findMetadataChanges([transaction([{ program: TOKEN_PROGRAM, data }])]),
        String(data[0]),
      ).to.deep.equal([]);
  });

  it("are Token-2022 mints with another fee, pointer or text of their own", () => {
    const starts = [
      [26, 5],
      [39, 1],
      // Hashes of the token metadata interface: initialize, update a field, remove a key, update the authority.
      [210, 225, 30, 162, 88, 184, 77, 141],
      [221, 233, 49, 45, 181, 202, 220, 200],
      [234, 18, 32, 56, 89, 141, 37, 181],
      [215, 228, 166, 228, 84, 100, 86, 123],
    ];
    for (const start of starts) {
      const data = [...start, ...new Array(20).fill(1)];
      expect(findMetadataChanges([transaction([{ program: TOKEN_2022_PROGRAM, data }])])).to.deep.equal([
        ACCOUNTS[1],
      ]);
      expect(findMetadataChanges([transaction([{ program: TOKEN_PROGRAM, data }])])).to.deep.equal([]);
    }
    const withFee = [26, 1, ...new Array(17).fill(1)];
    expect(
      findMetadataChanges([transaction([{ program: TOKEN_2022_PROGRAM, data: withFee }])]),
    ).to.deep.equal([]);
  });

  it("are Metaplex's metadata accounts, wherever the program's address comes from", () => {
    const created = { program: METADATA_PROGRAM, data: [33, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10] };
    const updated = { program: METADATA_PROGRAM, data: [50, 1] };
    expect(findMetadataChanges([transaction([created])])).to.deep.equal([ACCOUNTS[1]]);
    expect(findMetadataChanges([transaction([updated])])).to.deep.equal([ACCOUNTS[0]]);
    const ofLoaded = { ...created, accounts: [KEYS.length + 1] };
    expect(findMetadataChanges([transaction([ofLoaded])])).to.deep.equal([LOADED[1]]);
  });

  it("are found beneath other instructions, each once, and not in what failed", () => {
    const call = { program: TOKEN_PROGRAM, data: authority(0) };
    expect(
      findMetadataChanges([transaction([call, call], { isInner: true }), transaction([call])]),
    ).to.deep.equal([ACCOUNTS[1]]);
    expect(findMetadataChanges([transaction([call], { err: "InsufficientFunds" })])).to.deep.equal([]);
  });
});
