interface Table {
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly data: readonly (readonly unknown[])[];
  readonly rows: number;
}

const MAX_WIDTH = 44;

/** The table of an answer as lines of text: the endpoint's body, or the one table that it holds. */
export function describeRows(body: Table | readonly Table[]): string {
  const table = Array.isArray(body) ? (body as readonly Table[])[0] : (body as Table);
  if (table === undefined) return "no table";
  const lines = [table.columns.map(({ name }) => name), ...table.data.map((row) => row.map(show))];
  const widths = table.columns.map((_, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
  const text = lines.map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return [...text, "", `${table.rows} ${table.rows === 1 ? "row" : "rows"}`].join("\n");
}

function show(cell: unknown): string {
  const text = typeof cell === "string" ? cell : JSON.stringify(cell);
  return text.length > MAX_WIDTH ? `${text.slice(0, MAX_WIDTH - 1)}…` : text;
}

export function describeReceipt(
  receipt: { success: boolean; transaction: string; network: string; amount?: string } | undefined,
  payer: string,
): string {
  if (receipt === undefined) return "No payment was required.";
  const { amount, transaction, network } = receipt;
  const usd = amount === undefined ? "" : ` ${Number(amount) / 1e6} USDC`;
  return `Paid${usd} from ${payer} by transaction ${transaction} on ${network}.`;
}
