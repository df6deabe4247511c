/** Services have few names for their headers; more than these would be a fault, not a reason to grow. */
const MAX_NAMES = 100;
const MAX_LENGTH = 50;

/** `make`, which is asked once for each of the names that come again and again. */
export function memoizeHeaderName(make: (name: string) => string): (name: string) => string {
  const made = new Map<string, string>();
  return (name) => {
    const known = made.get(name);
    if (known !== undefined) return known;
    const fresh = make(name);
    if (made.size < MAX_NAMES && name.length <= MAX_LENGTH) made.set(name, fresh);
    return fresh;
  };
}
