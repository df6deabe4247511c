import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../../services/solana/chain/program-address.ts";
import { deriveAddress, MEMO_PROGRAM } from "../chain/addresses.ts";
import { flag, hex, i32, join, key, u8, u64, u128 } from "../chain/bytes.ts";
import { type AccountRef, type ProgramFrame, readonly, writable } from "../chain/execution.ts";
import { computeTransferFee, findTokenAccount, transfer, transferChecked } from "../chain/token-program.ts";
import { expectLiquidity, expectTrade } from "./expect.ts";
import {
  addShares,
  payIn,
  payOut,
  readShares,
  sizeAddition,
  sizeRemoval,
  transferFees,
} from "./liquidity.ts";
import {
  checkSlippage,
  computeTick,
  type Exchange,
  findSides,
  type LiquidityOrder,
  mapSides,
  type Pool,
  quote,
  type SwapOrder,
  sideAccount,
  sqrtPriceX64,
} from "./pool.ts";

const self = {
  program: "raydium-clmm",
  programId: "CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK",
  dex: "raydium",
} as const;

export const raydiumClmm: Exchange = {
  ...self,
  swap(caller, order) {
    const { ledger } = caller;
    const { pool, user, aToB, amountIn } = order;
    const { mintIn, mintOut, userIn, userOut, vaultIn, vaultOut } = findSides(ledger, order);
    const isNew = order.form % 2 === 0;
    const move = isNew ? transferChecked : transfer;
    const common = [
      readonly(user),
      readonly(sideAccount(pool, "config")),
      ...[pool.address, userIn, userOut, vaultIn, vaultOut, sideAccount(pool, "observation")].map(writable),
      readonly(TOKEN_PROGRAM),
    ];
    const extras = isNew ? [TOKEN_2022_PROGRAM, MEMO_PROGRAM, mintIn, mintOut].map(readonly) : [];
    const accounts = [...common, ...extras, ...tickArrays(pool)];
    const data = join(
      hex(isNew ? "2b04ed0b1ac91e62" : "f8c69e91e17587c8"),
      u64(amountIn),
      u64(order.minimumOut ?? 0n),
      u128(0n),
      flag(true),
    );
    let received = 0n;
    caller.invoke({ program: self.programId, accounts, data }, (frame) => {
      frame.log(`Instruction: Swap${isNew ? "V2" : ""}`);
      const sums = quote(ledger, order);
      move(frame, { from: userIn, to: vaultIn, authority: user, amount: amountIn });
      received = move(frame, { from: vaultOut, to: userOut, authority: pool.address, amount: sums.out });
      emitSwap(frame, order, { amountIn: sums.received, feeIn: amountIn - sums.received, out: sums.out });
      checkSlippage(order, received);
      expectTrade(frame, self, { pool, user, aToB, amountIn: sums.received, amountOut: sums.out });
    });
    return received;
  },
  addLiquidity(caller, order) {
    const { ledger } = caller;
    const { pool, user } = order;
    const [user0 = "", user1 = ""] = pool.mints.map((mint) => findTokenAccount(ledger, user, mint));
    const { shares, sent } = sizeAddition(ledger, order, readShares(ledger, order).total);
    const data = join(hex("851d59df45eeb00a"), u128(shares), u64(sent[0] * 2n), u64(sent[1] * 2n), u8(0));
    const accounts = [
      readonly(user),
      readonly(position(order, "nft account")),
      writable(pool.address),
      writable(sideAccount(pool, "protocol position")),
      writable(position(order, "position")),
      ...tickArrays(pool).slice(0, 2),
      ...[user0, user1, ...pool.vaults].map(writable),
      ...[TOKEN_PROGRAM, TOKEN_2022_PROGRAM, ...pool.mints].map(readonly),
    ];
    caller.invoke({ program: self.programId, accounts, data }, (frame) => {
      frame.log("Instruction: IncreaseLiquidityV2");
      payIn(frame, order, sent);
      const fees = transferFees(ledger, pool, sent);
      const amounts = mapSides((side) => sent[side] - fees[side]);
      frame.emit(
        join(
          hex("314f69d420221e54"),
          key(position(order, "nft")),
          u128(shares),
          ...[...amounts, ...fees].map(u64),
        ),
      );
      addShares(ledger, order, shares);
      expectLiquidity(frame, self, { kind: "add_liquidity", pool, user, amounts });
    });
  },
  removeLiquidity(caller, order) {
    const { ledger } = caller;
    const { pool, user } = order;
    const [user0 = "", user1 = ""] = pool.mints.map((mint) => findTokenAccount(ledger, user, mint));
    const { shares, amounts } = sizeRemoval(ledger, order, readShares(ledger, order));
    const data = join(hex("3a7fbc3e4f52c460"), u128(shares), u64(0), u64(0));
    const accounts = [
      readonly(user),
      readonly(position(order, "nft account")),
      writable(position(order, "position")),
      writable(pool.address),
      writable(sideAccount(pool, "protocol position")),
      ...pool.vaults.map(writable),
      ...tickArrays(pool).slice(0, 2),
      ...[user0, user1].map(writable),
      ...[TOKEN_PROGRAM, TOKEN_2022_PROGRAM, MEMO_PROGRAM, ...pool.mints].map(readonly),
    ];
    caller.invoke({ program: self.programId, accounts, data }, (frame) => {
      frame.log("Instruction: DecreaseLiquidityV2");
      payOut(frame, order, amounts);
      const fees = transferFees(ledger, pool, amounts);
      const noFees = [0n, 0n, 0n, 0n, 0n];
      frame.emit(
        join(
          hex("3ade563a44325538"),
          key(position(order, "nft")),
          u128(shares),
          ...[...amounts, ...noFees, ...fees].map(u64),
        ),
      );
      addShares(ledger, order, -shares);
      expectLiquidity(frame, self, { kind: "remove_liquidity", pool, user, amounts });
    });
  },
};

function emitSwap(
  frame: ProgramFrame,
  order: SwapOrder,
  { amountIn, feeIn, out }: { amountIn: bigint; feeIn: bigint; out: bigint },
): void {
  const { ledger } = frame;
  const { pool, user, aToB } = order;
  const { mintOut } = findSides(ledger, order);
  const input = [amountIn, feeIn] as const;
  const output = [out, computeTransferFee(ledger.mint(mintOut), out)] as const;
  frame.emit(
    join(
      hex("40c6cde8260871e2"),
      key(pool.address),
      key(user),
      ...pool.mints.map((mint) => key(findTokenAccount(ledger, user, mint))),
      ...(aToB ? [...input, ...output] : [...output, ...input]).map(u64),
      flag(aToB),
      u128(sqrtPriceX64(ledger, pool)),
      u128(ledger.numberOf(`shares/${pool.name}`)),
      i32(computeTick(ledger, pool)),
    ),
  );
}

function tickArrays(pool: Pool): AccountRef[] {
  return ["tick array 0", "tick array 1", "tick array 2"].map((role) => writable(sideAccount(pool, role)));
}

function position({ pool, user }: LiquidityOrder, role: string): string {
  return deriveAddress("position", pool.name, user, role);
}
