/** Hand-made transactions: trades of a Pump.fun bonding curve, whose other side is mostly lamports. */
import { expect } from "chai";
import { describe, it } from "mocha";
import { WRAPPED_SOL } from "../model.ts";
import { decodeMade } from "./decode-made.ts";
import { u8, u16, u32, u64 } from "./encode.ts";
import { addressOf, HandMade } from "./hand-made.ts";

const PUMP = "6EF8rrecthR5Dkzon8Nwu78hRvfCKubJ14M5uBEwF6P";
const USDC = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const CURVE = addressOf("curve");

const V1 = {
  buy: "66063d1201daebea",
  sell: "33e685a4017f83ad",
  buy_exact_sol_in: "38fc74089edfcd5f",
} as const;
const V2 = {
  buy_v2: "b817ee6167c5d33d",
  sell_v2: "5df6823ce7e940b2",
  buy_exact_quote_in_v2: "c2ab1c46684d5b2f",
} as const;

function accounts(quoteMint: string | undefined): string[] {
  const labels: Record<number, string> =
    quoteMint === undefined
      ? { 2: "token", 3: "curve", 4: "curve tokens", 6: "payer" }
      : { 1: "token", 2: quoteMint, 10: "curve", 11: "curve tokens", 12: "curve quote", 13: "payer" };
  return Array.from({ length: quoteMint === undefined ? 12 : 26 }, (_, at) => labels[at] ?? `account ${at}`);
}

interface EventFields {
  readonly isBuy: boolean;
  readonly tokens: bigint;
  readonly lamports: bigint;
  /** Of versions that have it. */
  readonly quote?: bigint;
  readonly shareholders?: number;
}

/** TradeEvent as pump's IDL has it; the first versions end after the reserves. */
function tradeEvent({ isBuy, tokens, lamports, quote, shareholders = 0 }: EventFields): number[] {
  const key = new Array<number>(32).fill(3);
  const first = [
    key,
    u64(lamports),
    u64(tokens),
    u8(isBuy ? 1 : 0),
    key,
    u64(1_700_000_000),
    u64(30),
    u64(31),
  ];
  const reserves = [u64(777), u64(888)];
  const fees = [key, u64(95), u64(1), key, u64(30), u64(2), u8(0), u64(0), u64(0), u64(0), u64(0)];
  const name = [u32(3), [...Buffer.from("buy")], u8(0), u64(0), u64(0), u64(0), u64(0)];
  const list = [u32(shareholders), ...Array.from({ length: shareholders }, () => [...key, ...u16(5)])];
  const tail = quote === undefined ? [] : [...fees, ...name, ...list, key, u64(quote), u64(5), u64(6)];
  return [...Buffer.from("bddb7fd34ee661ee", "hex"), ...[...first, ...reserves, ...tail].flat()];
}

function start(): HandMade {
  return new HandMade()
    .holds("curve tokens", { mint: "token" })
    .holds("user tokens", { mint: "token" })
    .holds("curve quote", { mint: USDC })
    .holds("user quote", { mint: USDC })
    .has("curve", 5_000_000_000);
}

interface Trade {
  readonly discriminator: string;
  readonly quoteMint?: string;
  readonly event?: EventFields;
}

function trade(made: HandMade, { discriminator, quoteMint, event }: Trade, inside: () => void): HandMade {
  const data = [...Buffer.from(discriminator, "hex"), ...u64(1), ...u64(2)];
  return made.call(PUMP, { accounts: accounts(quoteMint), data }, () => {
    inside();
    if (event !== undefined) made.event(PUMP, tradeEvent(event));
  });
}

const V3 = {
  buy_v3: "07051dc4f5176550",
  sell_v3: "1c92de7726c469d5",
  buy_exact_quote_in_v3: "e1f7501ed5b38488",
} as const;

describe("hand-made transactions: Pump.fun's bonding curve", () => {
  const forms = [
    ...Object.entries(V1).map(([name, discriminator]) => ({ name, discriminator })),
    ...Object.entries(V2).map(([name, discriminator]) => ({ name, discriminator, quoteMint: WRAPPED_SOL })),
  ];

  for (const { name, ...form } of forms) {
    const isBuy = name.startsWith("buy");
    it(`${name}: lamports ${isBuy ? "transferred to" : "taken off"} the curve`, () => {
      const event = { isBuy, tokens: 40n, lamports: 1_000n };
      const made = start();
      trade(made, { ...form, event }, () => {
        if (isBuy) {
          made.transfer("curve tokens", "user tokens", 40n);
          made.pay("payer", "fees", 10).pay("payer", "curve", 1_000);
        } else {
          made.transfer("user tokens", "curve tokens", 40n);
          made.drain("curve", "payer", 990).drain("curve", "fees", 10);
        }
      });
      const { trades, disagreements } = decodeMade(made.build());
      const token = { mint: addressOf("token"), amount: 40n, decimals: 6, reserve: 888n };
      const sol = { mint: WRAPPED_SOL, amount: 1_000n, decimals: 9, reserve: 777n };
      const [into, out] = isBuy ? [sol, token] : [token, sol];
      expect(trades).to.deep.equal([
        {
          kind: "trade",
          instructionIndex: 0,
          leg: 0,
          dex: "pumpfun",
          program: "pump-fun",
          pool: CURVE,
          account: addressOf("payer"),
          ...{
            tokenIn: into.mint,
            amountIn: into.amount,
            decimalsIn: into.decimals,
            reserveIn: into.reserve,
          },
          ...{
            tokenOut: out.mint,
            amountOut: out.amount,
            decimalsOut: out.decimals,
            reserveOut: out.reserve,
          },
        },
      ]);
      expect(disagreements).to.deep.equal([]);
    });
  }

  for (const [name, discriminator] of Object.entries(V2)) {
    const isBuy = name.startsWith("buy");
    it(`${name}: against another token that is moved`, () => {
      for (const shareholders of [0, 3]) {
        const event = { isBuy, tokens: 40n, lamports: 0n, quote: 2_000n, shareholders };
        const made = start();
        trade(made, { discriminator, quoteMint: USDC, event }, () => {
          const [from, to] = isBuy ? (["curve", "user"] as const) : (["user", "curve"] as const);
          made.transfer(`${from} tokens`, `${to} tokens`, 40n);
          made.transfer(`${to} quote`, `${from} quote`, 2_000n);
        });
        const { trades, disagreements } = decodeMade(made.build());
        expect(disagreements).to.deep.equal([]);
        const expected = { amountIn: isBuy ? 2_000n : 40n, amountOut: isBuy ? 40n : 2_000n, pool: CURVE };
        expect(trades[0]).to.deep.include({ ...expected, [isBuy ? "tokenIn" : "tokenOut"]: USDC });
      }
    });
  }

  for (const [name, discriminator] of Object.entries(V3)) {
    for (const quoteMint of [WRAPPED_SOL, USDC]) {
      it(`${name} against ${quoteMint}: the event's amounts, whatever fees the curve keeps`, () =>
        expectEventAmounts(discriminator, { isBuy: name.startsWith("buy"), quoteMint }));
    }
  }

  it("a third version's trade without its event is reported", () => {
    const made = start();
    const data = [...Buffer.from(V3.buy_v3, "hex")];
    made.call(PUMP, { accounts: accountsV3(USDC), data }, () => {
      made.transfer("curve tokens", "user tokens", 41n);
    });
    expect(decodeMade(made.build()).disagreements).to.deep.equal(["the curve's trade has no event"]);
  });

  it("rent that a buyer pays into the curve is no part of the trade", () => {
    const made = start();
    trade(made, { discriminator: V1.buy, event: { isBuy: true, tokens: 4n, lamports: 1_000n } }, () => {
      made
        .pay("payer", "curve", 250_560)
        .transfer("curve tokens", "user tokens", 4n)
        .pay("payer", "curve", 1_000);
    });
    const { trades, disagreements } = decodeMade(made.build());
    expect(trades[0]?.amountIn).to.equal(1_000n);
    expect(disagreements).to.deep.equal([]);
  });

  it("without the event, a buyer's lamports are those transferred, a seller's those the curve lost", () => {
    const buy = start();
    trade(buy, { discriminator: V1.buy }, () => {
      buy.pay("payer", "curve", 1_000).transfer("curve tokens", "user tokens", 4n);
    });
    expect(decodeMade(buy.build()).trades[0]).to.deep.include({ amountIn: 1_000n, reserveIn: null });
    const sell = start();
    sell.pay("payer", "curve", 77);
    trade(sell, { discriminator: V1.sell }, () => {
      sell.transfer("user tokens", "curve tokens", 4n).drain("curve", "payer", 600);
    });
    expect(decodeMade(sell.build()).trades[0]?.amountOut).to.equal(600n);
  });

  it("without the event, two sells to one curve cannot be separated and are reported", () => {
    const made = start();
    for (const lamports of [600, 700]) {
      trade(made, { discriminator: V1.sell }, () => {
        made.transfer("user tokens", "curve tokens", 4n).drain("curve", "payer", lamports);
      });
    }
    const { trades, disagreements } = decodeMade(made.build());
    expect(trades).to.deep.equal([]);
    expect(disagreements).to.deep.equal(new Array(2).fill("the lamports that the curve paid are unknown"));
  });

  it("two sells to one curve with their events are two rows", () => {
    const made = start();
    for (const lamports of [600, 700]) {
      const event = { isBuy: false, tokens: 4n, lamports: BigInt(lamports) };
      trade(made, { discriminator: V1.sell, event }, () => {
        made.transfer("user tokens", "curve tokens", 4n).drain("curve", "payer", lamports);
      });
    }
    const { trades, disagreements } = decodeMade(made.build());
    expect(trades.map(({ amountOut }) => amountOut)).to.deep.equal([600n, 700n]);
    expect(disagreements).to.deep.equal([]);
  });

  it("an event of an unknown length loses its own row, not those of the transaction", () => {
    const made = start();
    const sell = (event: number[]) =>
      made.call(
        PUMP,
        { accounts: accounts(undefined), data: [...Buffer.from(V1.sell, "hex"), ...u64(1), ...u64(2)] },
        () => {
          made.transfer("user tokens", "curve tokens", 4n).drain("curve", "payer", 600);
          made.event(PUMP, event);
        },
      );
    const whole = tradeEvent({ isBuy: false, tokens: 4n, lamports: 600n });
    // 105 bytes after the discriminator, as no version since July 2024 has it.
    sell(whole.slice(0, 8 + 105));
    sell(whole);
    const { decoded, trades, disagreements } = decodeMade(made.build());
    expect(trades.map(({ instructionIndex, amountOut }) => [instructionIndex, amountOut])).to.deep.equal([
      [trades[0]?.instructionIndex, 600n],
    ]);
    expect(trades[0]?.instructionIndex).to.be.above(0);
    expect(disagreements).to.deep.equal([
      "sell cannot be decoded: A u32 at byte 113 is beyond 105 bytes of data.",
    ]);
    expect(decoded.balances).not.to.deep.equal([]);
  });

  it("an event that disagrees is reported; the transfers count", () => {
    const made = start();
    trade(made, { discriminator: V1.buy, event: { isBuy: true, tokens: 5n, lamports: 999n } }, () => {
      made.pay("payer", "curve", 1_000).transfer("curve tokens", "user tokens", 4n);
    });
    const { trades, disagreements } = decodeMade(made.build());
    expect(trades[0]).to.deep.include({ amountIn: 1_000n, amountOut: 4n });
    expect(disagreements).to.deep.equal(["TradeEvent has 5 and 999, the curve moved 4 and 1000"]);
    const sell = start();
    trade(sell, { discriminator: V1.sell, event: { isBuy: false, tokens: 4n, lamports: 500n } }, () => {
      sell.transfer("user tokens", "curve tokens", 4n).drain("curve", "payer", 600);
    });
    expect(decodeMade(sell.build()).disagreements).to.deep.equal([
      "TradeEvent has 500 lamports, the curve paid 600",
    ]);
  });
});

function accountsV3(quoteMint: string): string[] {
  const first = ["global", "token", quoteMint, "x", "y", "curve", "curve tokens", "curve quote", "payer"];
  return [...first, ...Array.from({ length: 8 }, (_, at) => `account ${at}`)];
}

/** More moves than the event has: fees that the curve keeps, tokens of the pool to come. */
function expectEventAmounts(discriminator: string, trade: { isBuy: boolean; quoteMint: string }): void {
  const { isBuy, quoteMint } = trade;
  const isNative = quoteMint === WRAPPED_SOL;
  const [from, to] = isBuy ? ["curve", "user"] : ["user", "curve"];
  const made = start();
  const data = [...Buffer.from(discriminator, "hex"), ...u64(1), ...u64(2)];
  made.call(PUMP, { accounts: accountsV3(quoteMint), data }, () => {
    made.transfer(`${from} tokens`, `${to} tokens`, 41n);
    if (isNative) made.pay("payer", "curve", 1_025);
    else made.transfer(`${to} quote`, `${from} quote`, 1_025n);
    made.event(PUMP, tradeEvent({ isBuy, tokens: 40n, lamports: isNative ? 1_000n : 0n, quote: 1_000n }));
  });
  const { trades, disagreements } = decodeMade(made.build());
  expect(disagreements).to.deep.equal([]);
  const token = [addressOf("token"), 40n, 6];
  const quote = [quoteMint, 1_000n, isNative ? 9 : 6];
  const { pool, account, tokenIn, amountIn, decimalsIn, tokenOut, amountOut, decimalsOut } = trades[0] ?? {};
  expect([pool, account]).to.deep.equal([CURVE, addressOf("payer")]);
  expect([tokenIn, amountIn, decimalsIn]).to.deep.equal(isBuy ? quote : token);
  expect([tokenOut, amountOut, decimalsOut]).to.deep.equal(isBuy ? token : quote);
}
