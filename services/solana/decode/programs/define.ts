import { fromHex, hasBytes, readU32 } from "../bytes.ts";
import type { EventLayout, InstructionLayout, ProgramLayout } from "../layout.ts";

/** A program's layouts, indexed for look-up. */
export interface Program {
  readonly layout: ProgramLayout;
  /** Its instruction by the data and the number of accounts; undefined for one without a layout. */
  find(data: Uint8Array, accountCount: number): CompiledInstruction | undefined;
}

export interface CompiledInstruction {
  readonly layout: InstructionLayout;
  /** Accounts that the layout reads: fewer than so many belong to another version of the instruction. */
  readonly accountsNeeded: number;
  readonly discriminator: Uint8Array;
  readonly event: CompiledEvent | undefined;
}

export interface CompiledEvent {
  readonly layout: EventLayout;
  readonly discriminator: Uint8Array;
}

/** Throws if two instructions cannot be distinguished. */
export function defineProgram(layout: ProgramLayout): Program {
  const byStart = new Map<number, CompiledInstruction[]>();
  for (const instruction of layout.instructions.map(compileInstruction)) {
    const { discriminator } = instruction;
    const start = startOf(discriminator) as number;
    const others = byStart.get(start) ?? [];
    for (const other of others) {
      if (
        hasBytes(other.discriminator, 0, discriminator) &&
        other.layout.accountCount === instruction.layout.accountCount
      ) {
        throw new Error(
          `${layout.name}: ${other.layout.name} and ${instruction.layout.name} have the same discriminator and account count.`,
        );
      }
    }
    byStart.set(start, [...others, instruction]);
  }
  return {
    layout,
    find(data, accountCount) {
      const start = startOf(data);
      const candidates = start === undefined ? undefined : byStart.get(start);
      if (candidates === undefined) return undefined;
      let found: CompiledInstruction | undefined;
      for (const candidate of candidates) {
        if (!hasBytes(data, 0, candidate.discriminator)) continue;
        if (candidate.layout.accountCount === accountCount) return candidate;
        if (candidate.layout.accountCount === undefined) found = candidate;
      }
      return found;
    },
  };

  /** The key of the map; the rest of a discriminator is compared. */
  function startOf(data: Uint8Array): number | undefined {
    if (layout.events === "ray_log") return data[0];
    return data.length < 8 ? undefined : readU32(data, 0);
  }
}

function compileInstruction(layout: InstructionLayout): CompiledInstruction {
  const positions = [layout.user, ...layout.pools.flatMap(listPositions), ...(layout.orderBookVaults ?? [])];
  return {
    layout,
    accountsNeeded: Math.max(...positions.map((position) => position + 1), layout.route?.firstAccount ?? 0),
    discriminator: fromHex(layout.discriminator),
    event:
      layout.event === undefined
        ? undefined
        : { layout: layout.event, discriminator: fromHex(layout.event.discriminator) },
  };
}

function listPositions({ pool, vaults, native }: InstructionLayout["pools"][number]): number[] {
  return [pool, ...vaults, ...(native === undefined ? [] : [native.account, native.quoteMint ?? 0])];
}
