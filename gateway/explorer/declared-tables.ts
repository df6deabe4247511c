import type { Column } from "../../services/shared/contract/column.ts";
import { isRequired, sortableNames } from "../../services/shared/contract/define.ts";
import { describeParameters } from "../../services/shared/contract/derive/parameters.ts";
import type { Endpoint } from "../../services/shared/contract/endpoint.ts";
import { FORMAT_PARAM } from "../../services/shared/contract/format.ts";

/** A parameter as the explorer's forms and requests need it. */
export interface DeclaredParam {
  readonly name: string;
  readonly description: string;
  /** Needed for a request, also where an alias could take its place. */
  readonly required: boolean;
  readonly type: string;
  readonly default?: unknown;
  readonly example?: string;
  readonly options?: readonly (string | number)[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface DeclaredColumn {
  readonly name: string;
  readonly type: string;
  readonly unit?: string;
  readonly description: string;
  /** Of tuples in an array: the names of their members. */
  readonly members?: readonly string[];
}

/** What the explorer knows of an endpoint: all that it shows of it derives from this. */
export interface DeclaredTable {
  readonly path: string;
  readonly family: string;
  readonly summary: string;
  readonly description?: string;
  readonly params: readonly DeclaredParam[];
  readonly columns: readonly DeclaredColumn[];
  /** Columns that it can be ordered by. */
  readonly sortable: readonly string[];
}

/** The catalogue for the explorer. Aliases and formats are left out: it needs one way to ask. */
export function declareTables(catalogue: readonly Endpoint[]): DeclaredTable[] {
  return catalogue.map((endpoint) => {
    const { path, family, summary, description } = endpoint;
    return {
      path,
      family,
      summary,
      ...(description !== undefined && { description }),
      params: declareParams(endpoint),
      columns: endpoint.columns.map(declareColumn),
      sortable: sortableNames(endpoint),
    };
  });
}

const LEFT_OUT: ReadonlySet<string> = new Set([FORMAT_PARAM, "order_asc", "order_desc"]);

function declareParams(endpoint: Endpoint): DeclaredParam[] {
  return describeParameters(endpoint)
    .filter(({ name, aliasOf }) => aliasOf === undefined && !LEFT_OUT.has(name))
    .map(({ name, description, schema, example }) => {
      const { type, enum: options, pattern, minimum, maximum, default: value } = schema;
      const required = isRequired(endpoint, name);
      const bounds = { ...(minimum !== undefined && { minimum }), ...(maximum !== undefined && { maximum }) };
      return {
        ...{ name, description, required, type, ...bounds },
        ...(value !== undefined && { default: value }),
        ...(example !== undefined && { example }),
        ...(options !== undefined && { options }),
        ...(pattern !== undefined && { pattern }),
      };
    });
}

function declareColumn({ name, type, unit, description }: Column): DeclaredColumn {
  const members = membersOf(type, description);
  return { name, type, ...(unit !== undefined && { unit }), description, ...(members && { members }) };
}

/** Descriptions of tuples name their members: "24 rows [hourStartUnix, volumeUsd, swapCount], oldest first". */
function membersOf(type: string, description: string): readonly string[] | undefined {
  if (!type.startsWith("Array(Tuple(")) return undefined;
  const size = type.slice("Array(Tuple(".length).split(", ").length;
  const names = /\[([\w, ]+)\]/.exec(description)?.[1]?.split(", ") ?? [];
  return Array.from(
    { length: size },
    (_, at) => (names.length === size ? names[at] : undefined) ?? `${at + 1}`,
  );
}
