import { setFlagsFromString } from "node:v8";

const RUNS = 20_000;

/**
 * Whether the objects that a function makes, also once it is hot, share one hidden class of V8. Where each has its own it
 * takes four times the memory, and microseconds to make (docs/decisions/0084).
 */
export function sharesHiddenClass(make: () => object): boolean {
  setFlagsFromString("--allow-natives-syntax");
  // A function of V8's own: as text, since no parser but V8's knows it.
  const haveSameMap = new Function("a", "b", "return %HaveSameMap(a, b)") as (
    a: object,
    b: object,
  ) => boolean;
  for (let i = 0; i < RUNS; i++) make();
  return haveSameMap(make(), make());
}
