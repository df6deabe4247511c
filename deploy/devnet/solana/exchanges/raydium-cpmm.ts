import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from "../../../../services/solana/chain/program-address.ts";
import { MEMO_PROGRAM } from "../chain/addresses.ts";
import { flag, hex, join, key, u8, u64 } from "../chain/bytes.ts";
import { type ProgramFrame, readonly, writable } from "../chain/execution.ts";
import {
  burn,
  computeTransferFee,
  findTokenAccount,
  mintTo,
  transferChecked,
} from "../chain/token-program.ts";
import { expectLiquidity, expectTrade } from "./expect.ts";
import { payIn, payOut, sizeAddition, sizeRemoval, transferFees } from "./liquidity.ts";
import {
  checkSlippage,
  type Exchange,
  findSides,
  type LiquidityOrder,
  mapSides,
  type Pair,
  type Pool,
  quote,
  sideAccount,
} from "./pool.ts";
import { lpMint } from "./raydium-amm-v4.ts";

const self = {
  program: "raydium-cpmm",
  programId: "CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C",
  dex: "raydium",
} as const;

export const raydiumCpmm: Exchange = {
  ...self,
  swap(caller, order) {
    const { ledger } = caller;
    const { pool, user, aToB, amountIn } = order;
    const { mintIn, mintOut, userIn, userOut, vaultIn, vaultOut } = findSides(ledger, order);
    const [programIn, programOut] = [ledger.mint(mintIn).program, ledger.mint(mintOut).program];
    const accounts = [
      readonly(user),
      readonly(pool.authority),
      readonly(sideAccount(pool, "config")),
      writable(pool.address),
      ...[userIn, userOut, vaultIn, vaultOut].map(writable),
      ...[programIn, programOut, mintIn, mintOut].map(readonly),
      writable(sideAccount(pool, "observation")),
    ];
    const data = join(hex("8fbe5adac41e33de"), u64(amountIn), u64(order.minimumOut ?? 0n));
    let received = 0n;
    caller.invoke({ program: self.programId, accounts, data }, (frame) => {
      frame.log("Instruction: SwapBaseInput");
      const sums = quote(ledger, order);
      const feeOut = computeTransferFee(ledger.mint(mintOut), sums.out);
      frame.emit(
        join(
          hex("40c6cde8260871e2"),
          key(pool.address),
          ...[ledger.amountOf(vaultIn), ledger.amountOf(vaultOut)].map(u64),
          ...[sums.received, sums.out, amountIn - sums.received, feeOut].map(u64),
          flag(true),
          key(mintIn),
          key(mintOut),
          ...[sums.fee, 0n].map(u64),
          flag(true),
        ),
      );
      transferChecked(frame, { from: userIn, to: vaultIn, authority: user, amount: amountIn });
      received = transferChecked(frame, {
        from: vaultOut,
        to: userOut,
        authority: pool.authority,
        amount: sums.out,
      });
      checkSlippage(order, received);
      expectTrade(frame, self, { pool, user, aToB, amountIn: sums.received, amountOut: sums.out });
    });
    return received;
  },
  addLiquidity(caller, order) {
    const { ledger } = caller;
    const { pool, user } = order;
    const lp = lpMint(pool);
    const [user0 = "", user1 = "", userLp = ""] = [...pool.mints, lp].map((mint) =>
      findTokenAccount(ledger, user, mint),
    );
    const { shares, sent } = sizeAddition(ledger, order, ledger.mint(lp).supply);
    const data = join(hex("f223c68952e1f2b6"), u64(shares), u64(sent[0] * 2n), u64(sent[1] * 2n));
    caller.invoke(
      { program: self.programId, accounts: liquidityAccounts(order, [userLp, user0, user1]), data },
      (frame) => {
        frame.log("Instruction: Deposit");
        const fees = transferFees(ledger, pool, sent);
        const amounts = mapSides((side) => sent[side] - fees[side]);
        emitChange(frame, pool, { amounts, fees, type: 0 });
        payIn(frame, order, sent);
        mintTo(frame, { mint: lp, account: userLp, authority: pool.authority, amount: shares });
        expectLiquidity(frame, self, { kind: "add_liquidity", pool, user, amounts });
      },
    );
  },
  removeLiquidity(caller, order) {
    const { ledger } = caller;
    const { pool, user } = order;
    const lp = lpMint(pool);
    const [user0 = "", user1 = "", userLp = ""] = [...pool.mints, lp].map((mint) =>
      findTokenAccount(ledger, user, mint),
    );
    const { shares, amounts } = sizeRemoval(ledger, order, {
      held: ledger.amountOf(userLp),
      total: ledger.mint(lp).supply,
    });
    const data = join(hex("b712469c946da122"), u64(shares), u64(0), u64(0));
    const accounts = [...liquidityAccounts(order, [userLp, user0, user1]), readonly(MEMO_PROGRAM)];
    caller.invoke({ program: self.programId, accounts, data }, (frame) => {
      frame.log("Instruction: Withdraw");
      const fees = transferFees(ledger, pool, amounts);
      emitChange(frame, pool, { amounts, fees, type: 1 });
      burn(frame, { mint: lp, account: userLp, authority: user, amount: shares });
      payOut(frame, order, amounts);
      expectLiquidity(frame, self, { kind: "remove_liquidity", pool, user, amounts });
    });
  },
};

function liquidityAccounts({ pool, user }: LiquidityOrder, users: readonly string[]) {
  return [
    readonly(user),
    readonly(pool.authority),
    writable(pool.address),
    ...[...users, ...pool.vaults].map(writable),
    ...[TOKEN_PROGRAM, TOKEN_2022_PROGRAM, ...pool.mints].map(readonly),
    writable(lpMint(pool)),
  ];
}

function emitChange(
  frame: ProgramFrame,
  pool: Pool,
  { amounts, fees, type }: { amounts: Pair<bigint>; fees: Pair<bigint>; type: number },
): void {
  const { ledger } = frame;
  frame.emit(
    join(
      hex("79a3cdc939da753c"),
      key(pool.address),
      u64(ledger.mint(lpMint(pool)).supply),
      ...pool.vaults.map((vault) => u64(ledger.amountOf(vault))),
      ...[...amounts, ...fees].map(u64),
      u8(type),
    ),
  );
}
