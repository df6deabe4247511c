/**
 * Creates a function that removes the secrets of one endpoint's URL from a text. Providers put keys into the path, the
 * query and the password, and both runtimes and providers quote URLs in their errors; some providers echo request
 * headers with the encoded password. Redact a text before cutting it: a part of a secret is not recognised.
 */
export function createRedactor(url: URL): (text: string) => string {
  const parts = [...url.pathname.split("/"), ...url.searchParams.values()];
  const pieces = [url.pathname, url.search, url.username, url.password, ...parts];
  const user = safeDecode(url.username);
  if (user !== "") pieces.push(Buffer.from(`${user}:${safeDecode(url.password)}`).toString("base64"));
  const inJson = (text: string) => JSON.stringify(text).slice(1, -1);
  const forms = pieces
    .flatMap((piece) => [piece, safeDecode(piece)])
    .flatMap((piece) => [piece, inJson(piece)]);
  const secrets = [...new Set(forms)]
    .filter((piece) => piece.length >= 8)
    .sort((a, b) => b.length - a.length);
  return (text) => {
    let clean = text.replace(/\b(https?|wss?):\/\/[^\s"'<>)]+/gi, (found) => {
      try {
        return `${new URL(found).host}/…`;
      } catch {
        return "…";
      }
    });
    for (const secret of secrets) clean = clean.replaceAll(secret, "…");
    return clean;
  };
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
