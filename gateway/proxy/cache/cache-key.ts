const CODED = /[%+]/;

/**
 * What two requests for the same answer have in common: path, and parameters whatever their order and spelling in
 * percent-encoding, and the format. Nothing else of the client: responses do not depend on it. Undefined for a query that
 * cannot be decoded, which only its service can judge.
 *
 * `mediaType`: of a format other than the endpoint's own. A query that names another wins over it; its responses are
 * then kept once for each of the two, which is rare and never wrong.
 *
 * Unknown parameters count too: the response names them in a header.
 */
export function cacheKeyOf(path: string, query: string, mediaType?: string): string | undefined {
  const key = keyOf(path, query);
  // No target holds a space.
  return mediaType === undefined || key === undefined ? key : `${key} ${mediaType}`;
}

function keyOf(path: string, query: string): string | undefined {
  if (query === "") return path;
  if (!CODED.test(query) && isSorted(query)) return `${path}?${query}`;
  const pairs: (readonly [name: string, value: string])[] = [];
  for (const pair of query.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const value = decode(equals === -1 ? "" : pair.slice(equals + 1));
    if (name === undefined || value === undefined) return undefined;
    pairs.push([name, value]);
  }
  // Stable: of a parameter that is sent twice the order stays, whatever a service makes of it.
  pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const parts = pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  return `${path}?${parts.join("&")}`;
}

/** Whether the names stand in order and no pair is written in an unusual way: then there is nothing to do. */
function isSorted(query: string): boolean {
  let before = "";
  let start = 0;
  while (start <= query.length) {
    let end = query.indexOf("&", start);
    if (end === -1) end = query.length;
    const equals = query.indexOf("=", start);
    if (equals === -1 || equals > end || equals === start) return false;
    const name = query.slice(start, equals);
    if (name < before) return false;
    before = name;
    start = end + 1;
  }
  return true;
}

/** As services decode; undefined where they refuse. */
function decode(text: string): string | undefined {
  if (!CODED.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return undefined;
  }
}
