import { findProgramAddress } from "../../../../services/solana/chain/program-address.ts";
import { deriveAddress } from "../chain/addresses.ts";
import { flag, hex, join, key, u8, u64, u128 } from "../chain/bytes.ts";
import { type AccountRef, type ProgramFrame, readonly, writable } from "../chain/execution.ts";
import type { Ledger } from "../chain/ledger.ts";
import { computeTransferFee, findTokenAccount, transferChecked } from "../chain/token-program.ts";
import { expectLiquidity, expectTrade } from "./expect.ts";
import { addShares, payIn, payOut, readShares, sizeAddition, sizeRemoval } from "./liquidity.ts";
import {
  checkSlippage,
  type Exchange,
  emitByCall,
  findSides,
  type LiquidityOrder,
  type Pair,
  type Quote,
  quote,
  type SwapOrder,
  sqrtPriceX64,
} from "./pool.ts";

const programId = "cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG";
const self = {
  program: "meteora-damm-v2",
  programId,
  dex: "meteora",
  eventAuthority: findProgramAddress(["__event_authority"], programId),
} as const;

/** Signs for the vaults of all pools. */
export const DAMM_V2_AUTHORITY = "HLnpSz9h2S4hiLQ43rnSD9XkcUThA7B8hQMKmDaiTLcC";

export const meteoraDammV2: Exchange = {
  ...self,
  swap(caller, order) {
    const { ledger } = caller;
    const { pool, user, aToB, amountIn } = order;
    const { userIn, userOut, vaultIn, vaultOut } = findSides(ledger, order);
    const isNew = order.form % 2 === 0;
    const accounts = [
      readonly(DAMM_V2_AUTHORITY),
      ...[pool.address, userIn, userOut, ...pool.vaults].map(writable),
      ...pool.mints.map(readonly),
      readonly(user),
      ...pool.mints.map((mint) => readonly(ledger.mint(mint).program)),
      // No referral.
      readonly(programId),
      ...tail(),
    ];
    const data = join(
      hex(isNew ? "414b3f4ceb5b5b88" : "f8c69e91e17587c8"),
      ...[u64(amountIn), u64(order.minimumOut ?? 0n)],
      ...(isNew ? [u8(0)] : []),
    );
    let received = 0n;
    caller.invoke({ program: programId, accounts, data }, (frame) => {
      frame.log(`Instruction: Swap${isNew ? "2" : ""}`);
      const sums = quote(ledger, order);
      transferChecked(frame, { from: userIn, to: vaultIn, authority: user, amount: amountIn });
      received = transferChecked(frame, {
        from: vaultOut,
        to: userOut,
        authority: DAMM_V2_AUTHORITY,
        amount: sums.out,
      });
      emitSwap(frame, order, sums);
      checkSlippage(order, received);
      expectTrade(frame, self, { pool, user, aToB, amountIn: sums.received, amountOut: sums.out });
    });
    return received;
  },
  addLiquidity(caller, order) {
    const { ledger } = caller;
    const { pool, user } = order;
    const { shares, sent } = sizeAddition(ledger, order, readShares(ledger, order).total);
    const data = join(hex("b59d59438fb63448"), u128(shares), u64(sent[0] * 2n), u64(sent[1] * 2n));
    caller.invoke({ program: programId, accounts: liquidityAccounts(ledger, order), data }, (frame) => {
      frame.log("Instruction: AddLiquidity");
      const amounts = payIn(frame, order, sent);
      emitChange(frame, order, { amounts, included: sent, shares, type: 0 });
      addShares(ledger, order, shares);
      expectLiquidity(frame, self, { kind: "add_liquidity", pool, user, amounts });
    });
  },
  removeLiquidity(caller, order) {
    const { ledger } = caller;
    const { pool, user } = order;
    const { shares, amounts } = sizeRemoval(ledger, order, readShares(ledger, order));
    const data = join(hex("5055d14818ceb16c"), u128(shares), u64(0), u64(0));
    const accounts = [readonly(DAMM_V2_AUTHORITY), ...liquidityAccounts(ledger, order)];
    caller.invoke({ program: programId, accounts, data }, (frame) => {
      frame.log("Instruction: RemoveLiquidity");
      payOut(frame, order, amounts);
      emitChange(frame, order, { amounts, included: amounts, shares, type: 1 });
      addShares(ledger, order, -shares);
      expectLiquidity(frame, self, { kind: "remove_liquidity", pool, user, amounts });
    });
  },
};

function liquidityAccounts(ledger: Ledger, { pool, user }: LiquidityOrder): AccountRef[] {
  return [
    writable(pool.address),
    writable(deriveAddress("position", pool.name, user)),
    ...pool.mints.map((mint) => writable(findTokenAccount(ledger, user, mint))),
    ...pool.vaults.map(writable),
    ...pool.mints.map(readonly),
    readonly(deriveAddress("position", pool.name, user, "nft account")),
    readonly(user),
    ...pool.mints.map((mint) => readonly(ledger.mint(mint).program)),
    ...tail(),
  ];
}

function tail(): AccountRef[] {
  return [readonly(self.eventAuthority), readonly(programId)];
}

function emitSwap(frame: ProgramFrame, order: SwapOrder, sums: Quote): void {
  const { ledger, time } = frame;
  const { pool, aToB, amountIn } = order;
  const excluded = sums.out - computeTransferFee(ledger.mint(findSides(ledger, order).mintOut), sums.out);
  emitByCall(frame, self, [
    hex("bd4233a826507599"),
    key(pool.address),
    ...[u8(aToB ? 0 : 1), u8(0), flag(false)],
    ...[u64(amountIn), u64(order.minimumOut ?? 0n), u8(0)],
    ...[sums.received, sums.received - sums.fee, 0n, sums.out].map(u64),
    u128(sqrtPriceX64(ledger, pool)),
    ...[sums.fee - sums.fee / 5n, sums.fee / 5n, 0n, 0n].map(u64),
    ...[amountIn, sums.out, excluded, BigInt(time)].map(u64),
    ...pool.vaults.map((vault) => u64(ledger.amountOf(vault))),
  ]);
}

interface Change {
  readonly amounts: Pair<bigint>;
  /** With the tokens' own fees. */
  readonly included: Pair<bigint>;
  readonly shares: bigint;
  readonly type: number;
}

function emitChange(
  frame: ProgramFrame,
  { pool, user }: LiquidityOrder,
  { amounts, included, shares, type }: Change,
): void {
  emitByCall(frame, self, [
    hex("c5ab4e7fe0d3570d"),
    ...[pool.address, deriveAddress("position", pool.name, user), user].map(key),
    ...[...amounts, ...included].map(u64),
    ...pool.vaults.map((vault) => u64(frame.ledger.amountOf(vault))),
    u128(shares),
    ...[0n, 0n].map(u64),
    u8(type),
  ]);
}
