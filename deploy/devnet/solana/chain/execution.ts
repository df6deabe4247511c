import { Buffer } from "node:buffer";
import { type Ledger, ProgramError } from "./ledger.ts";

export interface AccountRef {
  readonly address: string;
  readonly isWritable: boolean;
}

export function writable(address: string): AccountRef {
  return { address, isWritable: true };
}

export function readonly(address: string): AccountRef {
  return { address, isWritable: false };
}

/** One instruction with what it logged and called, in order. */
export interface Invocation {
  readonly program: string;
  readonly accounts: readonly AccountRef[];
  readonly data: Uint8Array;
  readonly body: (string | Invocation)[];
}

export interface Call {
  readonly program: string;
  readonly accounts: readonly AccountRef[];
  readonly data: Uint8Array;
}

/** What a program does while it runs. */
export interface ProgramFrame {
  readonly ledger: Ledger;
  /** Unix seconds. */
  readonly time: number;
  readonly slot: number;
  /** "Program log: …" */
  log(line: string): void;
  /** "Program data: …", as Anchor's emit! writes events. */
  emit(data: Uint8Array): void;
  invoke(call: Call, run?: (frame: ProgramFrame) => void): void;
  /** Adds events that this instruction should be decoded to, computed once the transaction is over. */
  expect(expected: () => readonly ExpectedBase[]): void;
}

/** Whatever may call programs: another program, or a transaction. */
export type Caller = Pick<ProgramFrame, "invoke" | "ledger">;

/** An expected event of an instruction; the shapes are in expected.ts. */
export interface ExpectedBase {
  readonly kind: string;
}

export interface Executed {
  readonly instructions: readonly Invocation[];
  readonly failure?: { readonly index: number; readonly error: ProgramError; readonly program: string };
  /** Events of a successful transaction, with their index in the order of execution. */
  readonly expected: readonly (ExpectedBase & { readonly instructionIndex: number })[];
}

/** Runs top-level instructions one after the other; a ProgramError takes all they did back. */
export function execute(
  world: { readonly ledger: Ledger; readonly time: number; readonly slot: number },
  run: (caller: Caller) => void,
): Executed {
  const { ledger } = world;
  const mark = ledger.undo.mark();
  const instructions: Invocation[] = [];
  const expectations: { at: Invocation; expected: () => readonly ExpectedBase[] }[] = [];

  function invokeInto(
    body: (string | Invocation)[],
    call: Call,
    inside?: (frame: ProgramFrame) => void,
  ): void {
    const invocation: Invocation = { ...call, body: [] };
    body.push(invocation);
    inside?.({
      ...world,
      log: (line) => invocation.body.push(`Program log: ${line}`),
      emit: (data) => invocation.body.push(`Program data: ${Buffer.from(data).toString("base64")}`),
      invoke: (inner, runInner) => invokeInto(invocation.body, inner, runInner),
      expect: (expected) => expectations.push({ at: invocation, expected }),
    });
  }

  try {
    run({
      ledger,
      invoke: (call, inside) => invokeInto(instructions as (string | Invocation)[], call, inside),
    });
  } catch (error) {
    if (!(error instanceof ProgramError)) throw error;
    ledger.undo.backTo(mark);
    const index = instructions.length - 1;
    return {
      instructions,
      failure: { index, error, program: findFailedProgram(instructions[index]) },
      expected: [],
    };
  }
  const places = new Map<Invocation, number>();
  for (const invocation of listInvocations(instructions)) places.set(invocation, places.size);
  const expected = expectations.flatMap(({ at, expected: read }) =>
    read().map((each) => ({ ...each, instructionIndex: places.get(at) as number })),
  );
  return { instructions, expected: expected.sort((a, b) => a.instructionIndex - b.instructionIndex) };
}

/** Every instruction in the order of execution. */
export function* listInvocations(instructions: readonly (string | Invocation)[]): Generator<Invocation> {
  for (const each of instructions) {
    if (typeof each === "string") continue;
    yield each;
    yield* listInvocations(each.body);
  }
}

/** The program that was running last. */
function findFailedProgram(invocation: Invocation | undefined): string {
  const last = invocation?.body.at(-1);
  return typeof last === "object" ? findFailedProgram(last) : (invocation?.program ?? "");
}
