/** Longest stored fragment: a search for longer texts uses their parts, and compares. */
export const FRAGMENT_LENGTH = 3;

/** Every run of one to three characters of a symbol or name, in lower case. */
export function listFragments(...texts: readonly string[]): Set<string> {
  const fragments = new Set<string>();
  for (const text of texts) {
    const characters = Array.from(text.toLowerCase());
    for (let start = 0; start < characters.length; start++) {
      for (let length = 1; length <= FRAGMENT_LENGTH && start + length <= characters.length; length++)
        fragments.add(characters.slice(start, start + length).join(""));
    }
  }
  return fragments;
}
