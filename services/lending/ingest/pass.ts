import type { Multicall } from "../../shared/evm/multicall/multicall.ts";
import type { BlockHeader, RawLog } from "../../shared/evm/port.ts";
import type { UnitRef } from "../protocols/protocol.ts";
import { PassView } from "./pass-view.ts";
import type { ProtocolTable } from "./protocol-table.ts";
import { readUnits, type UnitReadings } from "./read-units.ts";
import type { Stretch } from "./stretch.ts";
import type { TokenBook } from "./token-book.ts";
import type { UnitBook } from "./unit-book.ts";
import { keyOf } from "./unit-key.ts";
import { createUnitReader } from "./unit-reader.ts";

/** What is known of a chain and how it is read. */
export interface PassTools {
  readonly chainId: number;
  readonly protocols: ProtocolTable;
  readonly book: UnitBook;
  readonly tokens: TokenBook;
  readonly multicall: Multicall;
}

export interface PassPlan {
  /** The block that is read. */
  readonly head: BlockHeader;
  readonly stretch: Stretch;
  /**
   * What was read at blocks above this one is worthless: they were replaced by others, or a write was interrupted.
   * Undefined = none was.
   */
  readonly replacedAbove: number | undefined;
  /** Units that were heard of first in blocks above this one are taken back, unless they are heard of again; undefined = none. */
  readonly goneAbove: number | undefined;
  /** Units to be read whether or not something was said of them; "all" = every one. */
  readonly also: Iterable<UnitRef> | "all";
  readonly onDone?: (done: number, total: number) => void;
}

export interface PassReadings extends UnitReadings {
  readonly view: PassView;
}

/** Hears what was said and reads the units that are to be read, all at the head's hash. Throws as readUnits. */
export async function readPass(tools: PassTools, plan: PassPlan): Promise<PassReadings> {
  const { chainId, protocols, book, tokens, multicall } = tools;
  const { head, stretch } = plan;
  const view = new PassView(book, plan.goneAbove ?? Number.POSITIVE_INFINITY);
  const reader = createUnitReader({ chainId, block: head, calls: multicall.at(head), tokens });
  const wanted = hearAll(stretch.logs, { protocols, view });
  for (const ref of plan.also === "all" ? view.refs() : plan.also) {
    if (view.has(ref.kind, ref.id)) wanted.set(keyOf(ref), ref);
  }

  const read: UnitReadings["read"][number][] = [];
  const failed: UnitReadings["failed"][number][] = [];
  const seen = new Set<string>();
  for (let missed = inReadingOrder(wanted, protocols); missed.length > 0; ) {
    for (const ref of missed) seen.add(keyOf(ref));
    const found = await readUnits(missed, {
      reader,
      protocolOf: (kind) => protocols.of(kind),
      previous: (ref) => view.get(ref) && book.state(ref.kind, ref.id),
      onFound(ref) {
        const isNew = view.add(ref, head.number);
        if (isNew) seen.add(keyOf(ref));
        return isNew;
      },
      ...(plan.onDone && { onDone: plan.onDone }),
    });
    for (const each of found.read) view.noteRead(each.ref, each.state);
    read.push(...found.read);
    failed.push(...found.failed);
    if (plan.replacedAbove === undefined) break;
    // What logs mean was told by states of the other branch: now by those of this one.
    const again = hearAll(stretch.logs, { protocols, view });
    missed = [...again.values()].filter((ref) => !seen.has(keyOf(ref)));
  }
  return { view, read, failed };
}

/** The units that logs create or change, by key; new ones are known from there on. */
function hearAll(
  logs: readonly RawLog[],
  of: { protocols: ProtocolTable; view: PassView },
): Map<string, UnitRef> {
  const { protocols, view } = of;
  const heard = new Map<string, UnitRef>();
  for (const log of logs) {
    for (const ref of protocols.hear(log, view)) {
      view.add(ref, log.blockNumber);
      heard.set(keyOf(ref), ref);
    }
  }
  return heard;
}

/** What finds others comes first. */
function inReadingOrder(wanted: ReadonlyMap<string, UnitRef>, protocols: ProtocolTable): UnitRef[] {
  const rank = new Map([...protocols.kinds].map((kind, i) => [kind, i]));
  return [...wanted.values()].sort((a, b) => (rank.get(a.kind) ?? 0) - (rank.get(b.kind) ?? 0));
}
