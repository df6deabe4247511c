/** `npm run export -- <path>`: a whole table, page by page, into a file. */
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { parseArgs } from "node:util";
import { sanitizeText } from "../../services/shared/logging/log.ts";
import { describeError } from "../../services/shared/logging/log-text.ts";
import { ConfigError } from "../../services/shared/settings/settings.ts";
import { locateStore } from "../../services/shared/settings/store-location.ts";
import { type Export, exportTable } from "./export.ts";
import { FILE_FORMATS } from "./table-file.ts";

const DEFAULT_URL = "http://127.0.0.1:8080";
const USAGE = `Usage:
  npm run export -- <path with query> --out <file> [--format ${FILE_FORMATS.join("|")}]
                    [--url <base address>] [--key <API key>] [--json]

Writes all rows of a table, which it requests page by page, into a file; --out - is the standard output. The format is
that of the file's name (.csv, .ndjson, .arrow, .parquet) without --format. The server is --url, that of the running
npm start, or ${DEFAULT_URL}; the key is --key, API_KEY, or the demo key of npm start. Rows of several pages may be of
several blocks: the summary names the first and the last. --json prints the summary as JSON.

  npm run export -- /evm/dexb/v3/pools --out pools.parquet
  npm run export -- '/evm/lending/lendinga/v3/pools?order_desc=supplyApy' --out - --format csv
`;

/** A wrong call. */
class UsageError extends Error {}

function readWords() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        out: { type: "string" },
        format: { type: "string" },
        url: { type: "string" },
        key: { type: "string" },
        json: { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

async function readCall(): Promise<(Export & { readonly asJson: boolean }) | "help"> {
  const { values, positionals } = readWords();
  if (values.help === true) return "help";
  const [target, extra] = positionals;
  if (target === undefined) throw new UsageError("A path is needed, such as /evm/chains.");
  if (extra !== undefined) throw new UsageError(`${JSON.stringify(extra)} is one word too many.`);
  const { out } = values;
  if (out === undefined) throw new UsageError("--out is needed: a file, or - for the standard output.");
  const named = values.format ?? extname(out).slice(1);
  const format = FILE_FORMATS.find((each) => each === named);
  if (format === undefined)
    throw new UsageError(`${JSON.stringify(named)} is no format: ${FILE_FORMATS.join(", ")}.`);
  const [path = "", query = ""] = `/${target.replace(/^\/+/, "")}`.split("?");
  const store = locateStore(process.env);
  const url = (values.url ?? store.running?.url ?? DEFAULT_URL).replace(/\/+$/, "");
  const demoKey = () => readFile(join(store.dataDir, "demo-key"), "utf8").catch(() => "");
  const key = (values.key ?? process.env.API_KEY ?? (await demoKey())).trim();
  if (key === "") throw new UsageError("A key is needed: --key, or API_KEY.");
  const parameters = new URLSearchParams(query);
  parameters.delete("format");
  return { server: { url, key }, path, query: parameters, out, format, asJson: values.json === true };
}

try {
  const call = await readCall();
  if (call === "help") process.stdout.write(USAGE);
  else {
    const summary = await exportTable(call);
    const { rows, path, file, firstBlock, lastBlock } = summary;
    const blocks =
      firstBlock === lastBlock
        ? `block ${firstBlock}`
        : `blocks ${firstBlock} to ${lastBlock}, as pages came`;
    const text = call.asJson ? JSON.stringify(summary) : `${rows} rows of ${path} in ${file}, of ${blocks}.`;
    if (file === "-") console.error(text);
    else console.log(text);
  }
} catch (error) {
  const isUsage = error instanceof UsageError;
  console.error(`${sanitizeText(describeError(error))}${isUsage ? `\n\n${USAGE}` : ""}`);
  process.exitCode = isUsage || error instanceof ConfigError ? 2 : 1;
}
