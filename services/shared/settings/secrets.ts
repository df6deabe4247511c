/**
 * Secrets of this process: settings with credentials are registered when they are read, so that no log line can contain
 * them in any form. Servers repeat their input (Redis before 6 returns a wrong AUTH with the password), and drivers quote
 * addresses that they cannot parse; no rule about field names would catch these.
 */
const known = new Set<string>();
/** The longest first, so that no part of a secret that contains another remains. */
let ordered: readonly string[] = [];

/** Shorter ones would blank ordinary words. */
const MIN_LENGTH = 6;
/** Least length of a path or query segment: names such as "mainnet" are not keys. */
const MIN_SEGMENT_LENGTH = 8;
const SHOWN = "[secret]";
const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;
const NEXT_ADDRESS = /,(?=\s*[a-z][a-z0-9+.-]*:\/\/)/i;

/** Registers the value of a setting: one text, or a comma-separated list of addresses. */
export function registerSecret(value: string): void {
  const pieces = SCHEME.test(value) ? value.split(NEXT_ADDRESS).flatMap(secretsOfAddress) : [value];
  for (const piece of pieces) {
    if (piece.length < MIN_LENGTH) continue;
    known.add(piece);
    // As JSON escapes it in a log line.
    known.add(JSON.stringify(piece).slice(1, -1));
    if (/^0x[0-9a-f]{32,}$/i.test(piece)) for (const form of formsOfKey(piece)) known.add(form);
  }
  ordered = [...known].sort((a, b) => b.length - a.length);
}

/** Libraries drop the prefix of a private key, or print the key as a number. */
function formsOfKey(key: string): string[] {
  return [key.slice(2), key.slice(2).toLowerCase(), String(BigInt(key))];
}

/** The text with every registered secret replaced. */
export function redactSecrets(text: string): string {
  let clean = text;
  for (const secret of ordered) if (clean.includes(secret)) clean = clean.replaceAll(secret, SHOWN);
  return clean;
}

/** Not by URL: the addresses that URL cannot parse are those that drivers quote in errors. */
function secretsOfAddress(address: string): string[] {
  const scheme = SCHEME.exec(address.trim())?.[0] ?? "";
  const isWeb = /^(http|ws)/i.test(scheme);
  const rest = address.trim().slice(scheme.length);
  const at = rest.lastIndexOf("@");
  const user = rest.slice(0, Math.max(at, 0));
  const colon = user.indexOf(":");
  const tail = rest.slice(at + 1);
  const pieces = isWeb ? segmentsOf(tail) : passwordsOf(tail);
  if (colon !== -1) pieces.push(user, user.slice(colon + 1));
  // An RPC endpoint's user without a password is its key; a database's is a name.
  else if (isWeb) pieces.push(user);
  const decoded = pieces.map(decode);
  // As HTTP Basic authentication encodes it.
  if (user !== "") decoded.push(Buffer.from(decode(user)).toString("base64"));
  return [...pieces, ...decoded];
}

/** Providers put keys into paths and queries. */
function segmentsOf(tail: string): string[] {
  const pieces = tail.split(/[/?&#=]/).slice(1);
  return pieces.filter((piece) => piece.length >= MIN_SEGMENT_LENGTH);
}

/** Databases take passwords as options with telling names; other options may appear in logs. */
function passwordsOf(tail: string): string[] {
  const options = tail.matchAll(/[?&][^=&]*(?:password|token|authmechanismproperties)[^=&]*=([^&]*)/gi);
  return [...options].map(([, value = ""]) => value);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
