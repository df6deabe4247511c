/** Hand-made transactions: the exchanges' own events, spelled field by field as IDLs and sources have them. */
import { expect } from "chai";
import { describe, it } from "mocha";
import type { InstructionLayout, ProgramLayout } from "../layout.ts";
import { programs } from "../programs/index.ts";
import { decodeMade } from "./decode-made.ts";
import { HandMade } from "./hand-made.ts";

const BYTES: Readonly<Record<string, number>> = {
  u8: 1,
  bool: 1,
  u16: 2,
  i32: 4,
  u64: 8,
  i64: 8,
  u128: 16,
  pubkey: 32,
};

/** Fields up to the last one that matters; `=1` is the first amount, `=2` the second, `=0` anything. */
const EVENTS: Readonly<Record<string, string>> = {
  "raydium-amm-v4 SwapBaseInLog":
    "amount_in:u64=1 minimum_out:u64 direction:u64 user_source:u64 pool_coin:u64 pool_pc:u64 out_amount:u64=2",
  "raydium-amm-v4 SwapBaseOutLog":
    "max_in:u64 amount_out:u64=2 direction:u64 user_source:u64 pool_coin:u64 pool_pc:u64 deduct_in:u64=1",
  "raydium-amm-v4 DepositLog":
    "max_coin:u64 max_pc:u64 base:u64 pool_coin:u64 pool_pc:u64 pool_lp:u64 calc_pnl_x:u128 calc_pnl_y:u128 deduct_coin:u64=1 deduct_pc:u64=2 mint_lp:u64",
  "raydium-amm-v4 WithdrawLog":
    "withdraw_lp:u64 user_lp:u64 pool_coin:u64 pool_pc:u64 pool_lp:u64 calc_pnl_x:u128 calc_pnl_y:u128 out_coin:u64=1 out_pc:u64=2",
  "raydium-amm-v4 InitLog":
    "time:u64 pc_decimals:u8 coin_decimals:u8 pc_lot_size:u64 coin_lot_size:u64 pc_amount:u64=2 coin_amount:u64=1 market:pubkey",
  "raydium-cpmm SwapEvent":
    "pool_id:pubkey input_vault_before:u64 output_vault_before:u64 input_amount:u64=1 output_amount:u64=2 input_transfer_fee:u64=0 output_transfer_fee:u64=0 base_input:bool",
  "raydium-cpmm LpChangeEvent":
    "pool_id:pubkey lp_amount_before:u64 token_0_vault_before:u64 token_1_vault_before:u64 token_0_amount:u64=1 token_1_amount:u64=2 token_0_transfer_fee:u64=0 token_1_transfer_fee:u64=0 change_type:u8",
  "raydium-clmm SwapEvent":
    "pool_state:pubkey sender:pubkey token_account_0:pubkey token_account_1:pubkey amount_0:u64=1 transfer_fee_0:u64=0 amount_1:u64=2 transfer_fee_1:u64=0 zero_for_one:bool sqrt_price_x64:u128 liquidity:u128 tick:i32",
  "raydium-clmm IncreaseLiquidityEvent":
    "position_nft_mint:pubkey liquidity:u128 amount_0:u64=1 amount_1:u64=2 amount_0_transfer_fee:u64=0 amount_1_transfer_fee:u64=0",
  "raydium-clmm CreatePersonalPositionEvent":
    "pool_state:pubkey minter:pubkey nft_owner:pubkey tick_lower_index:i32 tick_upper_index:i32 liquidity:u128 deposit_amount_0:u64=1 deposit_amount_1:u64=2 deposit_amount_0_transfer_fee:u64=0 deposit_amount_1_transfer_fee:u64=0",
  "raydium-clmm DecreaseLiquidityEvent":
    "position_nft_mint:pubkey liquidity:u128 decrease_amount_0:u64=1-40 decrease_amount_1:u64=2-50 fee_amount_0:u64=40 fee_amount_1:u64=50 reward_0:u64 reward_1:u64 reward_2:u64 transfer_fee_0:u64=0 transfer_fee_1:u64=0",
  "raydium-launchlab TradeEvent":
    "pool_state:pubkey total_base_sell:u64 virtual_base:u64 virtual_quote:u64 real_base_before:u64 real_quote_before:u64 real_base_after:u64 real_quote_after:u64 amount_in:u64=1 amount_out:u64=2 protocol_fee:u64 platform_fee:u64=0 creator_fee:u64=0 share_fee:u64=0 trade_direction:u8 pool_status:u8 exact_in:bool",
  "orca-whirlpool Traded":
    "whirlpool:pubkey a_to_b:bool pre_sqrt_price:u128 post_sqrt_price:u128 input_amount:u64=1 output_amount:u64=2 input_transfer_fee:u64=0 output_transfer_fee:u64=0 lp_fee:u64 protocol_fee:u64",
  "orca-whirlpool LiquidityIncreased":
    "whirlpool:pubkey position:pubkey tick_lower_index:i32 tick_upper_index:i32 liquidity:u128 token_a_amount:u64=1 token_b_amount:u64=2 token_a_transfer_fee:u64=0 token_b_transfer_fee:u64=0",
  "orca-whirlpool LiquidityDecreased":
    "whirlpool:pubkey position:pubkey tick_lower_index:i32 tick_upper_index:i32 liquidity:u128 token_a_amount:u64=1 token_b_amount:u64=2 token_a_transfer_fee:u64=0 token_b_transfer_fee:u64=0",
  "meteora-dlmm Swap":
    "lb_pair:pubkey from:pubkey start_bin_id:i32 end_bin_id:i32 amount_in:u64=1 amount_out:u64=2 swap_for_y:bool fee:u64 protocol_fee:u64 fee_bps:u128 host_fee:u64=0",
  "meteora-damm-v2 EvtSwap2":
    "pool:pubkey trade_direction:u8 collect_fee_mode:u8 has_referral:bool amount_0:u64 amount_1:u64 swap_mode:u8 included_fee_input_amount:u64=1 excluded_fee_input_amount:u64 amount_left:u64 output_amount:u64 next_sqrt_price:u128 claiming_fee:u64 protocol_fee:u64 compounding_fee:u64 referral_fee:u64=0 included_transfer_fee_amount_in:u64 included_transfer_fee_amount_out:u64=2 excluded_transfer_fee_amount_out:u64 current_timestamp:u64 reserve_a_amount:u64 reserve_b_amount:u64",
  "meteora-damm-v2 EvtLiquidityChange":
    "pool:pubkey position:pubkey owner:pubkey token_a_amount:u64=1 token_b_amount:u64=2 transfer_fee_included_token_a_amount:u64 transfer_fee_included_token_b_amount:u64 reserve_a_amount:u64 reserve_b_amount:u64 liquidity_delta:u128",
  "meteora-dbc EvtSwap2":
    "pool:pubkey config:pubkey trade_direction:u8 has_referral:bool amount_0:u64 amount_1:u64 swap_mode:u8 included_fee_input_amount:u64=1 excluded_fee_input_amount:u64 amount_left:u64 output_amount:u64=2 next_sqrt_price:u128 trading_fee:u64 protocol_fee:u64 referral_fee:u64=0 quote_reserve_amount:u64 migration_threshold:u64 current_timestamp:u64",
  "meteora-dbc EvtSwap2WithTransferHook":
    "pool:pubkey config:pubkey trade_direction:u8 has_referral:bool amount_0:u64 amount_1:u64 swap_mode:u8 included_fee_input_amount:u64=1 excluded_fee_input_amount:u64 amount_left:u64 output_amount:u64=2 next_sqrt_price:u128 trading_fee:u64 protocol_fee:u64 referral_fee:u64=0 quote_reserve_amount:u64",
  "pumpswap BuyEvent":
    "timestamp:i64 base_amount_out:u64=2 max_quote_amount_in:u64 user_base_token_reserves:u64 user_quote_token_reserves:u64 pool_base_token_reserves:u64 pool_quote_token_reserves:u64 quote_amount_in:u64 lp_fee_basis_points:u64 lp_fee:u64 protocol_fee_basis_points:u64 protocol_fee:u64 quote_amount_in_with_lp_fee:u64=1 user_quote_amount_in:u64",
  "pumpswap SellEvent":
    "timestamp:i64 base_amount_in:u64=1 min_quote_amount_out:u64 user_base_token_reserves:u64 user_quote_token_reserves:u64 pool_base_token_reserves:u64 pool_quote_token_reserves:u64 quote_amount_out:u64 lp_fee_basis_points:u64 lp_fee:u64 protocol_fee_basis_points:u64 protocol_fee:u64 quote_amount_out_without_lp_fee:u64=2 user_quote_amount_out:u64",
  "pumpswap DepositEvent":
    "timestamp:i64 lp_token_amount_out:u64 max_base_amount_in:u64 max_quote_amount_in:u64 user_base_token_reserves:u64 user_quote_token_reserves:u64 pool_base_token_reserves:u64 pool_quote_token_reserves:u64 base_amount_in:u64=1 quote_amount_in:u64=2 lp_mint_supply:u64",
  "pumpswap WithdrawEvent":
    "timestamp:i64 lp_token_amount_in:u64 min_base_amount_out:u64 min_quote_amount_out:u64 user_base_token_reserves:u64 user_quote_token_reserves:u64 pool_base_token_reserves:u64 pool_quote_token_reserves:u64 base_amount_out:u64=1 quote_amount_out:u64=2 lp_mint_supply:u64",
  "pumpswap CreatePoolEvent":
    "timestamp:i64 index:u16 creator:pubkey base_mint:pubkey quote_mint:pubkey base_mint_decimals:u8 quote_mint_decimals:u8 base_amount_in:u64=1 quote_amount_in:u64=2 pool_base_amount:u64",
};

interface Amounts {
  readonly first: bigint;
  readonly second: bigint;
  /** Value of a field by which amounts may differ. */
  readonly tolerance: bigint;
}

function spell(fields: string, { first, second, tolerance }: Amounts): number[] {
  return fields.split(" ").flatMap((field) => {
    const [, type = "", what = ""] = /^\w+:(\w+)(?:=(.*))?$/.exec(field) ?? [];
    const length = BYTES[type];
    if (length === undefined) throw new Error(`${field} is no field.`);
    const values: Record<string, bigint> = {
      "": 0x5a5a5a5a5a5a5a5an,
      "0": tolerance,
      "1": first,
      "2": second,
      "1-40": first - 40n,
      "2-50": second - 50n,
    };
    const value = values[what] ?? BigInt(what);
    return Array.from({ length }, (_, at) => Number((value >> BigInt(8 * (at % 8))) & 0xffn));
  });
}

function make(program: ProgramLayout, layout: InstructionLayout, eventData: readonly number[]) {
  const made = new HandMade();
  for (const [side, mint] of [
    ["0", "A"],
    ["1", "B"],
  ]) {
    made.holds(`vault ${side}`, { mint: `${mint}` }).holds(`user ${side}`, { mint: `${mint}` });
  }
  const [pool] = layout.pools as [InstructionLayout["pools"][number]];
  const count = layout.accountCount ?? 24;
  const accounts = Array.from({ length: count }, (_, at) => {
    const vault = (pool.vaults as readonly number[]).indexOf(at);
    return vault === -1 ? `account ${at}` : `vault ${vault}`;
  });
  const data = [...Buffer.from(layout.discriminator, "hex"), ...new Uint8Array(40).fill(1)];
  made.call(program.address, { accounts, data }, () => {
    made.call("order book", { accounts: [], data: [] });
    if (layout.effect === "trade")
      made.transfer("user 0", "vault 0", 100n).transfer("vault 1", "user 1", 200n);
    else if (layout.effect === "add_liquidity") {
      made.transfer("user 0", "vault 0", 100n).transfer("user 1", "vault 1", 200n);
    } else made.transfer("vault 0", "user 0", 100n).transfer("vault 1", "user 1", 200n);
    const event = [...Buffer.from(layout.event?.discriminator ?? "", "hex"), ...eventData];
    if (program.events === "cpi") made.event(program.address, event);
    else made.log(event, program.events === "log" ? "Program data: " : "Program log: ray_log: ");
    // What other programs log in its place is not its event.
    made.call("other", { accounts: [], data: [] }, () => made.log(event));
  });
  return decodeMade(made.build());
}

describe("hand-made transactions: events", () => {
  const withEvents = programs.flatMap(({ layout: program }) =>
    program.instructions
      .filter(({ event, pools }) => event !== undefined && pools.length === 1)
      .map((layout) => ({ program, layout, name: `${program.name} ${layout.event?.name}` })),
  );

  it("each event of the layouts is spelled here", () => {
    expect(new Set(withEvents.map(({ name }) => name))).to.deep.equal(new Set(Object.keys(EVENTS)));
  });

  for (const { program, layout, name } of withEvents) {
    const fields = EVENTS[name] ?? "";
    it(`${program.name} ${layout.name} is compared with ${layout.event?.name}`, () => {
      const countDisagreements = (first: bigint, second: bigint, tolerance = 0n) => {
        const { decoded, disagreements } = make(program, layout, spell(fields, { first, second, tolerance }));
        expect(decoded.events).to.have.length(1);
        return disagreements.length;
      };
      expect(countDisagreements(100n, 200n)).to.equal(0);
      expect(countDisagreements(101n, 200n)).to.equal(1);
      expect(countDisagreements(100n, 199n)).to.equal(1);
      expect(countDisagreements(200n, 100n)).to.equal(layout.event?.order === "any" ? 0 : 1);
      if (fields.includes("=0")) expect(countDisagreements(100n, 203n, 3n)).to.equal(0);
      // Shares of a fee add up.
      if (fields.split("=0").length === 4) expect(countDisagreements(100n, 191n, 3n)).to.equal(0);
      expect(make(program, layout, []).disagreements).to.have.length(1);
    });
  }

  it("reports the event's amounts and what moved", () => {
    const { program, layout } = withEvents.find(({ name }) => name === "raydium-cpmm SwapEvent") ?? {};
    if (program === undefined || layout === undefined) throw new Error("no such event");
    const fields = EVENTS["raydium-cpmm SwapEvent"] ?? "";
    const amounts = { first: 5n, second: 6n, tolerance: 0n };
    expect(make(program, layout, spell(fields, amounts)).disagreements).to.deep.equal([
      "SwapEvent has 5 and 6, the vaults moved 100 and 200",
    ]);
  });
});
