/**
 * What this process was told in confidence: settings that hold credentials are remembered when they are read, so that no
 * log line can hold them, whatever words they come in. Servers repeat what they were sent (an old Redis answers a wrong
 * command with its arguments, the password among them), and drivers quote addresses that they cannot read.
 */
const known = new Set<string>();
/** The longest first, so that no part is left of a secret that holds another. */
let ordered: readonly string[] = [];

/** Shorter ones would blank words of every line. */
const MIN_LENGTH = 6;
/** Segments of an address's path or query: names such as "mainnet" are no keys. */
const MIN_SEGMENT_LENGTH = 8;
const SHOWN = "[secret]";
const SCHEME = /^([a-z][a-z0-9+.-]*):\/\//i;
const NEXT_ADDRESS = /,(?=\s*[a-z][a-z0-9+.-]*:\/\/)/i;

/** Remembers the value of a setting: one text, or a comma-separated list of addresses. */
export function registerSecret(value: string): void {
  const pieces = SCHEME.test(value) ? value.split(NEXT_ADDRESS).flatMap(secretsOfAddress) : [value];
  for (const piece of pieces) {
    if (piece.length < MIN_LENGTH) continue;
    known.add(piece);
    // As a log line holds it.
    known.add(JSON.stringify(piece).slice(1, -1));
    if (/^0x[0-9a-f]{32,}$/i.test(piece)) for (const form of formsOfKey(piece)) known.add(form);
  }
  ordered = [...known].sort((a, b) => b.length - a.length);
}

/** Libraries leave the prefix of a private key out, and complain of one as the number that it is. */
function formsOfKey(key: string): string[] {
  return [key.slice(2), key.slice(2).toLowerCase(), String(BigInt(key))];
}

/** The text without what was remembered. */
export function redactSecrets(text: string): string {
  let clean = text;
  for (const secret of ordered) if (clean.includes(secret)) clean = clean.replaceAll(secret, SHOWN);
  return clean;
}

/** Not by URL: an address that it cannot read is what a driver complains of, and quotes. */
function secretsOfAddress(address: string): string[] {
  const scheme = SCHEME.exec(address.trim())?.[0] ?? "";
  const isWeb = /^(http|ws)/i.test(scheme);
  const rest = address.trim().slice(scheme.length);
  const at = rest.lastIndexOf("@");
  const user = rest.slice(0, Math.max(at, 0));
  const colon = user.indexOf(":");
  const behind = rest.slice(at + 1);
  const pieces = isWeb ? segmentsOf(behind) : passwordsOf(behind);
  if (colon !== -1) pieces.push(user, user.slice(colon + 1));
  // An RPC endpoint's user without a password is its key; a database's is a name.
  else if (isWeb) pieces.push(user);
  const decoded = pieces.map(decode);
  // As HTTP sends it.
  if (user !== "") decoded.push(Buffer.from(decode(user)).toString("base64"));
  return [...pieces, ...decoded];
}

/** Providers put keys into paths and queries. */
function segmentsOf(behind: string): string[] {
  const pieces = behind.split(/[/?&#=]/).slice(1);
  return pieces.filter((piece) => piece.length >= MIN_SEGMENT_LENGTH);
}

/** Databases take them as options, whose names say so; other options are words of the log. */
function passwordsOf(behind: string): string[] {
  const options = behind.matchAll(/[?&][^=&]*(?:password|token|authmechanismproperties)[^=&]*=([^&]*)/gi);
  return [...options].map(([, value = ""]) => value);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
