import { expect } from "chai";
import fc from "fast-check";
import { describe, it } from "mocha";
import type { EntityRow } from "../../store/collections.ts";
import { toStateText } from "../../store/state-text.ts";
import { EntityRegistry } from "./entity-registry.ts";

const REFRESH = 600;
const START = 1_700_000_000;

function row(id: string, options: Partial<EntityRow> = {}): EntityRow {
  const read = { block: 5, blockHash: "0x5", time: START, state: toStateText({ id }) };
  return { chainId: 1, kind: "vault", id, version: 1, foundBlock: 1, failures: 0, ...read, ...options };
}

const due = (registry: EntityRegistry, now: number, limit = 500) =>
  registry.due({ now, refreshSeconds: REFRESH, limit }).map(({ id }) => id);

describe("EntityRegistry", () => {
  it("has entities by kind and id, with their last state", () => {
    const registry = new EntityRegistry();
    registry.put(row("a", { state: toStateText({ cap: 10n ** 30n }) }));
    registry.put(row("b", { block: null, blockHash: null, time: null, state: null }));
    expect([
      registry.has("vault", "a"),
      registry.has("market", "a"),
      registry.has("vault", "b"),
    ]).to.deep.equal([true, false, true]);
    expect(registry.state("vault", "a")).to.deep.equal({ cap: 10n ** 30n });
    expect(registry.state("vault", "b")).to.equal(undefined);
    registry.put(row("a", { state: toStateText(7n) }));
    expect(registry.state("vault", "a")).to.equal(7n);
    registry.remove({ kind: "vault", id: "a" });
    expect(registry.state("vault", "a")).to.equal(undefined);
    expect(registry.size).to.equal(1);
  });

  it("makes entities due within the period, one by one though they were read together", () => {
    const registry = new EntityRegistry();
    const ids = Array.from({ length: 400 }, (_, i) => `0x${(i * 7919).toString(16).padStart(40, "0")}`);
    for (const id of ids) registry.put(row(id));
    const readAt = new Map<string, number>();
    let most = 0;
    for (let now = START; now <= START + REFRESH; now += 2) {
      const turn = due(registry, now);
      most = Math.max(most, turn.length);
      for (const id of turn) {
        readAt.set(id, now - START);
        registry.put(row(id, { time: now }));
      }
    }
    expect(readAt.size, "each within the period").to.equal(ids.length);
    expect(Math.min(...readAt.values()), "none in its first half").to.be.at.least(REFRESH / 2);
    expect(most, "spread over 150 passes").to.be.lessThan(20);
  });

  it("takes the oldest first where there are more than a pass may read, but all that were never read", () => {
    const times = fc.array(fc.option(fc.integer({ min: 0, max: 3_000 })), { maxLength: 40 });
    fc.assert(
      fc.property(times, fc.nat(10), (list, limit) => {
        const registry = new EntityRegistry();
        for (const [i, age] of list.entries())
          registry.put(row(String(i), { time: age === null ? null : START - age }));
        const turn = due(registry, START, limit);
        const unread = [...list.keys()].filter((i) => list[i] === null).map(String);
        const ages = turn.slice(unread.length).map((id) => list[Number(id)] ?? 0);
        expect(turn.slice(0, unread.length)).to.have.members(unread);
        expect(ages).to.deep.equal([...ages].sort((a, b) => b - a));
        const overdue = list.filter((age) => age !== null && age >= REFRESH).length;
        expect(ages.length).to.be.at.least(Math.min(limit, overdue));
        expect(ages.length).to.be.at.most(limit);
        for (const age of ages) expect(age).to.be.at.least(REFRESH / 2);
      }),
    );
  });

  it("retries an unreadable entity after ever longer pauses, at most the period", () => {
    const registry = new EntityRegistry();
    const pauses: number[] = [];
    let now = START;
    for (let failures = 1; failures <= 9; failures++) {
      registry.put(row("a", { failures }), { now, refreshSeconds: REFRESH });
      let pause = 0;
      while (due(registry, now + pause).length === 0) pause++;
      pauses.push(pause);
      now += pause;
    }
    expect(pauses).to.deep.equal([10, 20, 40, 80, 160, 320, 600, 600, 600]);
  });
});
