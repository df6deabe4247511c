import { expect } from "chai";
import { describe, it } from "mocha";
import { decodeBase58 } from "../../../shared/contract/base58.ts";
import type { AccountInfo } from "../../chain/port.ts";
import { METADATA_PROGRAM, TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../chain/program-address.ts";
import { fakeKey } from "../../chain/testkit/fake-chain.ts";
import { findTransferFeeBps } from "../../metrics/mint-extensions.ts";
import { describeToken, findDescribedMint } from "./describe.ts";
import { readMetadata } from "./metadata-account.ts";
import { readMint, readTokenAccount } from "./mint-account.ts";

const [MINT, AUTHORITY, FREEZER, OTHER] = [1, 2, 3, 4].map((number) => fakeKey(1, number)) as [
  string,
  string,
  string,
  string,
];
const SLOTS_IN_EPOCH = 432_000;

/** Bytes one after another: numbers are single bytes, texts addresses. */
function bytes(...parts: readonly (number | string | Uint8Array)[]): Uint8Array {
  return Uint8Array.from(
    parts.flatMap((part) => {
      if (typeof part === "number") return [part];
      return [...(typeof part === "string" ? (decodeBase58(part) ?? []) : part)];
    }),
  );
}

function number(value: bigint | number, length: number): Uint8Array {
  const written = new Uint8Array(length);
  for (let i = 0; i < length; i++) written[i] = Number((BigInt(value) >> BigInt(8 * i)) & 0xffn);
  return written;
}

function text(value: string, padded = 0): Uint8Array {
  const encoded = new TextEncoder().encode(value);
  const length = Math.max(padded, encoded.length);
  return bytes(number(length, 4), encoded, new Uint8Array(length - encoded.length));
}

const NONE = new Uint8Array(36);
const mint82 = ({
  mintAuthority = NONE,
  freezeAuthority = NONE,
}: {
  mintAuthority?: Uint8Array;
  freezeAuthority?: Uint8Array;
} = {}) => bytes(mintAuthority, number(123_456_789n, 8), 6, 1, freezeAuthority);
const some = (address: string) => bytes(number(1, 4), address);
const extension = (type: number, data: Uint8Array) => bytes(number(type, 2), number(data.length, 2), data);
const extended = (...extensions: readonly Uint8Array[]) =>
  bytes(mint82(), new Uint8Array(165 - 82), 1, ...extensions);
const account = (owner: string, data: Uint8Array): AccountInfo => ({ owner, data });

const fee = (epoch: number, bps: number) => bytes(number(epoch, 8), number(2n ** 63n, 8), number(bps, 2));
const feeConfig = (older: Uint8Array, newer: Uint8Array) =>
  extension(1, bytes(AUTHORITY, AUTHORITY, number(77, 8), older, newer));
const embedded = (authority: string | Uint8Array) =>
  extension(19, bytes(authority, MINT, text("Long name"), text("LN"), text("https://x"), number(0, 4)));

describe("mint accounts", () => {
  it("give supply, decimals and authorities", () => {
    const data = mint82({ mintAuthority: some(AUTHORITY), freezeAuthority: some(FREEZER) });
    expect(data.length).to.equal(82);
    expect(readMint(account(TOKEN_PROGRAM, data))).to.deep.equal({
      supply: 123_456_789n,
      decimals: 6,
      mintAuthority: AUTHORITY,
      freezeAuthority: FREEZER,
      isToken2022: false,
      extensions: {},
      metadata: undefined,
    });
    const facts = readMint(account(TOKEN_2022_PROGRAM, mint82()));
    expect(facts).to.include({ mintAuthority: null, freezeAuthority: null, isToken2022: true });
  });

  it("give the transfer fee in force: the newer one from its epoch on", () => {
    const data = extended(feeConfig(fee(10, 50), fee(12, 200)));
    const { extensions = {} } = readMint(account(TOKEN_2022_PROGRAM, data)) ?? {};
    const bpsIn = (epoch: number) => findTransferFeeBps(extensions, epoch * SLOTS_IN_EPOCH + 5);
    expect([10, 11, 12, 13].map(bpsIn)).to.deep.equal([50, 50, 200, 200]);
  });

  it("give other extensions, whatever is between them, up to the end of what is written", () => {
    const data = extended(
      extension(3, new Uint8Array(32)),
      extension(9, new Uint8Array(0)),
      embedded(AUTHORITY),
      new Uint8Array(12),
    );
    const facts = readMint(account(TOKEN_2022_PROGRAM, data));
    expect(facts).to.deep.include({
      extensions: { nonTransferable: true },
      metadata: { name: "Long name", symbol: "LN", isMutable: true },
    });
    const settled = readMint(account(TOKEN_2022_PROGRAM, extended(embedded(new Uint8Array(32)))));
    expect(settled?.metadata?.isMutable).to.equal(false);
    // A length beyond the end is no extension.
    const broken = bytes(extended(), number(9, 2), number(500, 2));
    expect(readMint(account(TOKEN_2022_PROGRAM, broken))?.extensions).to.deep.equal({});
  });

  it("give who may act on what others hold, and nobody where the address is zeros", () => {
    const nobody = new Uint8Array(32);
    const rate = (bps: number) => number(bps & 0xffff, 2);
    const float = (value: number) => new Uint8Array(new Float64Array([value]).buffer);
    const read = (...extensions: readonly Uint8Array[]) =>
      readMint(account(TOKEN_2022_PROGRAM, extended(...extensions)))?.extensions;
    const all = read(
      extension(3, bytes(AUTHORITY)),
      extension(4, bytes(AUTHORITY, 1, nobody)),
      extension(6, bytes(2)),
      extension(10, bytes(AUTHORITY, number(1_000, 8), rate(-25), number(5_000, 8), rate(300))),
      extension(12, bytes(FREEZER)),
      extension(14, bytes(nobody, OTHER)),
      extension(25, bytes(AUTHORITY, float(1.5), number(7_000, 8), float(3))),
      extension(26, bytes(AUTHORITY, 1)),
    );
    expect(all).to.deep.equal({
      closeAuthority: AUTHORITY,
      confidentialTransfers: true,
      isFrozenByDefault: true,
      interest: { startTime: 1_000, averageBps: -25, updateTime: 5_000, currentBps: 300 },
      permanentDelegate: FREEZER,
      transferHook: { program: OTHER, authority: null },
      scaledAmount: { older: 1.5, newer: 3, newerTime: 7_000 },
      pausable: { authority: AUTHORITY, isPaused: true },
    });
    const harmless = [
      ...[
        extension(3, nobody),
        extension(6, bytes(1)),
        extension(12, nobody),
        extension(14, bytes(nobody, nobody)),
      ],
      // A multiplier that is no number, and values that are too short.
      ...[extension(25, bytes(AUTHORITY, float(Number.NaN), number(0, 8), float(1)))],
      ...[
        extension(26, bytes(nobody, 0)),
        extension(10, new Uint8Array(51)),
        extension(1, new Uint8Array(107)),
      ],
    ];
    for (const each of harmless) expect(read(each), `${each[0]}`).to.deep.equal({});
  });

  it("are not token accounts, other programs' accounts, or accounts that were never initialised", () => {
    const tokenAccount = bytes(MINT, AUTHORITY, number(5, 8), NONE, 1, new Uint8Array(56));
    expect(tokenAccount.length).to.equal(165);
    const unset = mint82();
    unset[45] = 0;
    for (const [owner, data] of [
      [TOKEN_PROGRAM, tokenAccount],
      [TOKEN_2022_PROGRAM, bytes(tokenAccount, 2, extension(7, new Uint8Array(0)))],
      [OTHER, mint82()],
      [TOKEN_PROGRAM, unset],
      [TOKEN_PROGRAM, new Uint8Array(10)],
    ] as const)
      expect(readMint(account(owner, data))).to.equal(undefined);
    expect(readTokenAccount(account(TOKEN_PROGRAM, tokenAccount))).to.deep.equal({
      mint: MINT,
      owner: AUTHORITY,
      amount: 5n,
    });
    expect(readTokenAccount(account(TOKEN_PROGRAM, mint82()))).to.equal(undefined);
  });
});

/** Creators, where there are any, move what follows. */
function metaplex(fields: {
  name: string;
  symbol: string;
  creators?: number;
  isMutable?: boolean;
}): Uint8Array {
  const { name, symbol, creators, isMutable = false } = fields;
  const list =
    creators === undefined ? bytes(0) : bytes(1, number(creators, 4), new Uint8Array(creators * 34).fill(9));
  return bytes(
    ...[4, AUTHORITY, MINT, text(name, 32), text(symbol, 10), text("https://x", 200)],
    ...[number(500, 2), list, 1, isMutable ? 1 : 0, 1, 254, new Uint8Array(60)],
  );
}

describe("metadata accounts", () => {
  it("give name and symbol without their padding, and whether they may change, behind any creators", () => {
    for (const creators of [undefined, 0, 1, 5]) {
      for (const isMutable of [true, false]) {
        const data = metaplex({
          name: "Ünïcode",
          symbol: "ÜN",
          isMutable,
          ...(creators !== undefined && { creators }),
        });
        expect(readMetadata(account(METADATA_PROGRAM, data))).to.deep.equal({
          mint: MINT,
          name: "Ünïcode",
          symbol: "ÜN",
          isMutable,
        });
      }
    }
  });

  it("give no invisible characters, and no text that does not fit", () => {
    const hidden = metaplex({ name: "US\u200bD\u202e Coin\u0000", symbol: " $\u0007 " });
    expect(readMetadata(account(METADATA_PROGRAM, hidden))).to.include({ name: "USD Coin", symbol: "$" });
    const data = metaplex({ name: "A", symbol: "A" });
    expect(readMetadata(account(METADATA_PROGRAM, data.subarray(0, 90)))).to.equal(undefined);
    expect(readMetadata(account(OTHER, data))).to.equal(undefined);
  });
});

describe("a token's properties", () => {
  const token = { mint: MINT, decimals: 3, isToken2022: false };
  const metadataAccount = account(
    METADATA_PROGRAM,
    metaplex({ name: "Outside", symbol: "OUT", isMutable: true }),
  );

  it("are its mint's own text, else that of its metadata account", () => {
    const plain = account(TOKEN_PROGRAM, mint82());
    const own = account(TOKEN_2022_PROGRAM, extended(embedded(new Uint8Array(32))));
    const described = describeToken(token, { mintAccount: plain, metadataAccount, slot: 9 });
    expect(described).to.deep.include({ name: "Outside", mutableMetadata: true, decimals: 6, readSlot: 9 });
    const inside = describeToken(token, { mintAccount: own, metadataAccount, slot: 9 });
    expect(inside).to.deep.include({ name: "Long name", mutableMetadata: false, isToken2022: true });
    // Of another mint, wherever it came from.
    const stranger = describeToken(
      { ...token, mint: OTHER },
      { mintAccount: plain, metadataAccount, slot: 9 },
    );
    expect(stranger).to.include({ name: "", symbol: "" });
  });

  it("are unknown for a mint that is gone", () => {
    expect(describeToken(token, { mintAccount: null, metadataAccount: null, slot: 9 })).to.deep.equal({
      symbol: "",
      name: "",
      decimals: 3,
      supply: 0n,
      mintAuthority: null,
      freezeAuthority: null,
      isToken2022: false,
      extensions: {},
      mutableMetadata: false,
      readSlot: 9,
    });
  });

  it("may be changed by the mint or the metadata account alone", () => {
    expect(findDescribedMint(fakeKey(5, 5), metadataAccount)).to.equal(MINT);
    expect(findDescribedMint(MINT, account(TOKEN_PROGRAM, mint82()))).to.equal(MINT);
    expect(findDescribedMint(MINT, null)).to.equal(undefined);
  });
});
