let lastText = "";
let lastHash = fnv(lastText);

/** FNV-1a of a text's code units, as a whole number of 32 bits. */
export function hashOf(text: string): number {
  // Asked for several times in a row: to look a key up, and to put it in.
  if (text === lastText) return lastHash;
  lastText = text;
  lastHash = fnv(text);
  return lastHash;
}

function fnv(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash | 0;
}
