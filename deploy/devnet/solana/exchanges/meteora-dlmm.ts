import { findProgramAddress } from "../../../../services/solana/chain/program-address.ts";
import { deriveAddress, MEMO_PROGRAM } from "../chain/addresses.ts";
import { flag, hex, i32, join, key, u8, u16, u32, u64, u128, zeros } from "../chain/bytes.ts";
import { type AccountRef, readonly, writable } from "../chain/execution.ts";
import type { Ledger } from "../chain/ledger.ts";
import { findTokenAccount, transferChecked } from "../chain/token-program.ts";
import { expectLiquidity, expectTrade } from "./expect.ts";
import { addShares, payIn, payOut, readShares, sizeAddition, sizeRemoval } from "./liquidity.ts";
import {
  checkSlippage,
  type Exchange,
  emitByCall,
  findSides,
  type LiquidityOrder,
  type Pair,
  quote,
  sideAccount,
} from "./pool.ts";

const programId = "LBUZKhRxPF3XUpBCjp4YzTKgLccjZhTSDM9YuVaPwxo";
const self = {
  program: "meteora-dlmm",
  programId,
  dex: "meteora",
  eventAuthority: findProgramAddress(["__event_authority"], programId),
} as const;

/** An optional account that is not given is the program itself. */
const NONE = readonly(programId);
const ACTIVE_BIN = 8_388;

export const meteoraDlmm: Exchange = {
  ...self,
  swap(caller, order) {
    const { ledger } = caller;
    const { pool, user, aToB, amountIn } = order;
    const { userIn, userOut, vaultIn, vaultOut } = findSides(ledger, order);
    const isNew = order.form % 2 === 1;
    const accounts = [
      writable(pool.address),
      NONE,
      ...[...pool.vaults, userIn, userOut].map(writable),
      ...pool.mints.map(readonly),
      writable(sideAccount(pool, "oracle")),
      NONE,
      readonly(user),
      ...pool.mints.map((mint) => readonly(ledger.mint(mint).program)),
      ...(isNew ? [readonly(MEMO_PROGRAM)] : []),
      readonly(self.eventAuthority),
      readonly(programId),
      ...["bin array 0", "bin array 1"].map((role) => writable(sideAccount(pool, role))),
    ];
    const data = join(
      hex(isNew ? "414b3f4ceb5b5b88" : "f8c69e91e17587c8"),
      ...[u64(amountIn), u64(order.minimumOut ?? 0n)],
      ...(isNew ? [u32(0)] : []),
    );
    let received = 0n;
    caller.invoke({ program: programId, accounts, data }, (frame) => {
      frame.log(`Instruction: Swap${isNew ? "2" : ""}`);
      const sums = quote(ledger, order);
      transferChecked(frame, { from: userIn, to: vaultIn, authority: user, amount: amountIn });
      received = transferChecked(frame, {
        from: vaultOut,
        to: userOut,
        authority: pool.address,
        amount: sums.out,
      });
      emitByCall(frame, self, [
        hex("516ce3becdd00ac4"),
        key(pool.address),
        key(user),
        ...[i32(ACTIVE_BIN), i32(ACTIVE_BIN + 1)],
        ...[u64(sums.received), u64(sums.out), flag(aToB), u64(sums.fee), u64(sums.fee / 20n)],
        ...[u128(BigInt(pool.feeBps)), u64(0)],
      ]);
      checkSlippage(order, received);
      expectTrade(frame, self, { pool, user, aToB, amountIn: sums.received, amountOut: sums.out });
    });
    return received;
  },
  addLiquidity(caller, order) {
    const { ledger } = caller;
    const { pool, user } = order;
    const { shares, sent } = sizeAddition(ledger, order, readShares(ledger, order).total);
    const strategy = join(i32(ACTIVE_BIN - 30), i32(ACTIVE_BIN + 30), u8(6), zeros(64));
    const data = join(
      hex("03dd95da6f8d76d5"),
      ...[u64(sent[0]), u64(sent[1]), i32(ACTIVE_BIN), i32(3), strategy, u32(0)],
    );
    const accounts = [...liquidityAccounts(ledger, order), ...tail()];
    caller.invoke({ program: programId, accounts, data }, (frame) => {
      frame.log("Instruction: AddLiquidityByStrategy2");
      const amounts = payIn(frame, order, sent);
      emitByCall(frame, self, [hex("1f5e7d5ae3343dba"), ...liquidityEvent(order, amounts)]);
      addShares(ledger, order, shares);
      expectLiquidity(frame, self, { kind: "add_liquidity", pool, user, amounts });
    });
  },
  removeLiquidity(caller, order) {
    const { ledger } = caller;
    const { pool, user } = order;
    const { shares, amounts } = sizeRemoval(ledger, order, readShares(ledger, order));
    const data = join(
      hex("cc02c391359191cd"),
      ...[i32(ACTIVE_BIN - 30), i32(ACTIVE_BIN + 30), u16(order.bps), u32(0)],
    );
    const accounts = [...liquidityAccounts(ledger, order), readonly(MEMO_PROGRAM), ...tail()];
    caller.invoke({ program: programId, accounts, data }, (frame) => {
      frame.log("Instruction: RemoveLiquidityByRange2");
      payOut(frame, order, amounts);
      emitByCall(frame, self, [hex("74f461e8671f983a"), ...liquidityEvent(order, amounts)]);
      addShares(ledger, order, -shares);
      expectLiquidity(frame, self, { kind: "remove_liquidity", pool, user, amounts });
    });
  },
};

function liquidityAccounts(ledger: Ledger, order: LiquidityOrder): AccountRef[] {
  const { pool, user } = order;
  return [
    writable(position(order)),
    writable(pool.address),
    NONE,
    ...pool.mints.map((mint) => writable(findTokenAccount(ledger, user, mint))),
    ...pool.vaults.map(writable),
    ...pool.mints.map(readonly),
    readonly(user),
    ...pool.mints.map((mint) => readonly(ledger.mint(mint).program)),
  ];
}

function tail(): AccountRef[] {
  return [readonly(self.eventAuthority), readonly(programId)];
}

function liquidityEvent(order: LiquidityOrder, amounts: Pair<bigint>): Uint8Array[] {
  const { pool, user } = order;
  return [...[pool.address, user, position(order)].map(key), ...amounts.map(u64), i32(ACTIVE_BIN)];
}

function position({ pool, user }: LiquidityOrder): string {
  return deriveAddress("position", pool.name, user);
}
