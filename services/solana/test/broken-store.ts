import type { Store } from "../../shared/storage/port.ts";

/** The process was killed, as the store sees it. */
export class Killed extends Error {
  override readonly name = "Killed";
}

/** A store whose writes are not whole, as MongoDB's: each step is written alone, and a kill comes between any two. */
export function createStepwiseStore(inner: Store): Store & { killAfter(steps: number): void } {
  let left = Number.POSITIVE_INFINITY;
  return new Proxy(inner, {
    get(target, name: keyof Store | "killAfter") {
      if (name === "engine") return "mongodb";
      if (name === "killAfter") return (steps: number) => (left = steps);
      if (name === "write")
        return async (steps: Parameters<Store["write"]>[0]) => {
          for (const step of steps) {
            if (left <= 0) throw new Killed();
            left -= 1;
            await target.write([step]);
          }
        };
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  }) as Store & { killAfter(steps: number): void };
}
