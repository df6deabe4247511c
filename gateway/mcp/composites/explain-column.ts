import type { Column } from "../../../services/shared/contract/column.ts";
import type { Endpoint } from "../../../services/shared/contract/endpoint.ts";
import { requireText } from "../tools/arguments.ts";
import { toolNameOf } from "../tools/endpoint-tool.ts";
import { type Arguments, type Tool, ToolArgumentError } from "../tools/tool.ts";

/** `explain_column`: what a number means and how it is computed, from the declarations alone. */
export function createExplainColumn(catalogue: readonly Endpoint[]): Tool {
  const call = (args: Arguments): string => {
    const name = requireText(args, "column");
    const wanted = args.tool === undefined ? undefined : requireText(args, "tool");
    const searched = catalogue.filter(
      (endpoint) => wanted === undefined || toolNameOf(endpoint) === wanted || endpoint.path === wanted,
    );
    if (searched.length === 0)
      throw new ToolArgumentError(`Cannot read tool: ${JSON.stringify(wanted)} is no tool of an endpoint.`);
    const meanings = collectMeanings(name, searched);
    if (meanings.size === 0) throw new ToolArgumentError(describeUnknown(name, searched));
    return [...meanings].map(([meaning, tools]) => `${meaning}\nIn: ${tools.join(", ")}.`).join("\n\n");
  };

  return {
    name: "explain_column",
    title: "What a column means",
    description:
      "Meaning, type, unit and formula of a column, in every table that has it or in one. Costs no request of an endpoint.",
    inputSchema: {
      type: "object",
      properties: {
        column: { type: "string", description: "Name of the column, such as netSupplyApy." },
        tool: { type: "string", description: "Only in the table of this tool." },
      },
      required: ["column"],
      additionalProperties: false,
    },
    call,
  };
}

/** The tools of each text: the same name may mean different things. */
function collectMeanings(name: string, endpoints: readonly Endpoint[]): Map<string, string[]> {
  const meanings = new Map<string, string[]>();
  for (const endpoint of endpoints) {
    for (const column of endpoint.columns) {
      if (column.name.toLowerCase() !== name.toLowerCase()) continue;
      const text = describeColumn(column);
      meanings.set(text, [...(meanings.get(text) ?? []), toolNameOf(endpoint)]);
    }
  }
  return meanings;
}

function describeColumn({ name, type, unit, nullable, description }: Column): string {
  const canBeNull = nullable === true || type.startsWith("Nullable(");
  const notes = [type, unit, canBeNull ? "null where it is unknown" : undefined];
  return `${name} (${notes.filter((note) => note !== undefined).join(", ")}): ${description}`;
}

/** The names that are most like it, since a typing error is likelier than a wrong tool. */
function describeUnknown(name: string, endpoints: readonly Endpoint[]): string {
  const names = [...new Set(endpoints.flatMap(({ columns }) => columns.map((column) => column.name)))];
  const part = name.toLowerCase();
  const similar = names.filter(
    (each) => each.toLowerCase().includes(part) || part.includes(each.toLowerCase()),
  );
  const shown = similar.length > 0 ? similar : names;
  return `No table has a column ${JSON.stringify(name)}. ${similar.length > 0 ? "Similar" : "There are"}: ${shown.slice(0, 40).join(", ")}.`;
}
