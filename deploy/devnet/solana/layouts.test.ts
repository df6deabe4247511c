import { existsSync, readFileSync } from "node:fs";
import { expect } from "chai";
import { describe, it } from "mocha";
import { randomRuns } from "../../../services/shared/testkit/describe.ts";
import type { SolanaTransaction } from "../../../services/solana/chain/port.ts";
import { createGenerator } from "./generator.ts";
import { type Step, stepsOf } from "./test/replay.ts";

/** Beside the repository: what the programs' own descriptions say of their instructions. */
const FACTS = new URL("../../../../shared/facts/solana-instructions.json", import.meta.url);

interface Layout {
  readonly programId: string;
  readonly name: string;
  readonly discriminator: string;
  readonly accountCount: number;
  readonly pools: readonly number[];
}

describe("Solana generator: instructions", () => {
  it("name accounts where the programs' own descriptions have them", function () {
    if (!existsSync(FACTS)) {
      console.log("      pending: the programs' descriptions are not beside the repository");
      this.skip();
    }
    // Seconds of work, many on a busy machine.
    this.timeout(180_000);
    const layouts = readLayouts();
    const seen = new Set<string>();
    for (const { step, pool, leg, program } of listInstructions()) {
      const layout = layouts.find((each) => describes(each, step));
      if (layout === undefined)
        throw new Error(`${program} has no ${step.data.toString("hex").slice(0, 16)}`);
      // Of Raydium's v4 the older form is described with its optional account, and comes without it too.
      const missing = layout.discriminator === "09" ? 1 : 0;
      expect(step.accounts.length, layout.name).to.be.at.least(layout.accountCount - missing);
      expect(step.accounts[layout.pools[leg] ?? -1], layout.name).to.equal(pool);
      seen.add(`${program} ${layout.name}`);
    }
    expect(seen.size).to.be.at.least(24);
  });
});

/** 200 where all is checked. */
const SLOTS = randomRuns(200, 100);

/** Instructions that trade or provide. */
function* listInstructions() {
  const slot = 300_000_000;
  const generator = createGenerator({ seed: 3, time: 1_763_000_000, slot });
  for (let i = 1; i <= SLOTS; i++) {
    const { raw, expected = [] } = generator.make(slot + i, { time: 1_763_000_000 + 20 * i }) ?? {};
    const transactions = (raw?.transactions ?? []) as SolanaTransaction[];
    const bySignature = new Map(transactions.map((each) => [each.transaction.signatures[0], each]));
    for (const { signature, events } of expected) {
      const steps = stepsOf(bySignature.get(signature) as SolanaTransaction);
      for (const event of events)
        if ("pool" in event) yield { ...event, step: steps[event.instructionIndex] as Step };
    }
  }
}

function describes({ programId, discriminator }: Layout, { program, data }: Step): boolean {
  return programId === program && data.toString("hex").startsWith(discriminator);
}

interface Facts {
  readonly programs: Record<
    string,
    {
      readonly program_id: string;
      readonly rows: readonly {
        readonly instruction: string;
        readonly discriminator_hex: string;
        readonly account_count_min: number;
        readonly pool_account_index: number | number[] | null;
      }[];
    }
  >;
}

function readLayouts(): Layout[] {
  const { programs } = JSON.parse(readFileSync(FACTS, "utf8")) as Facts;
  return Object.values(programs).flatMap(({ program_id, rows }) =>
    rows.map((row) => ({
      programId: program_id,
      name: row.instruction,
      discriminator: row.discriminator_hex,
      accountCount: row.account_count_min,
      pools: [row.pool_account_index ?? []].flat(),
    })),
  );
}
