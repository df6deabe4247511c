/**
 * Milliseconds for which an answer may be given again without asking, by its Cache-Control (RFC 9111); 0 = not at all.
 * `private` does not forbid it here: the gateway stands for the origin, and gives answers to those alone who may have
 * them.
 */
export function freshMsOf(cacheControl: string | undefined): number {
  if (cacheControl === undefined) return 0;
  // One answer after the other says the same.
  if (cacheControl !== lastText) {
    lastText = cacheControl;
    lastMs = readFreshMs(cacheControl);
  }
  return lastMs;
}

let lastText = "";
let lastMs = 0;

function readFreshMs(cacheControl: string): number {
  let seconds = 0;
  for (const directive of cacheControl.toLowerCase().split(",")) {
    const [name = "", value = ""] = directive.split("=").map((part) => part.trim());
    if (name === "no-store" || name === "no-cache") return 0;
    if (name === "max-age" && /^\d{1,9}$/.test(value)) seconds = Number(value);
  }
  return seconds * 1000;
}
