import { parameterValueError } from "./parameter-error.ts";

export interface OrderTerm<Field extends string = string> {
  readonly field: Field;
  readonly direction: "asc" | "desc";
}

/** The two raw list values as sent; undefined if not sent. */
export interface OrderLists {
  readonly asc?: string | undefined;
  readonly desc?: string | undefined;
}

/**
 * Combines order_asc and order_desc position by position: an empty item leaves its position to the other list,
 * where both fill one the ascending column comes first. Throws bad_request for an unknown or repeated column.
 */
export function combineOrder(lists: OrderLists, allowed: ReadonlySet<string>): OrderTerm[] {
  const asc = lists.asc === undefined ? [] : lists.asc.split(",");
  const desc = lists.desc === undefined ? [] : lists.desc.split(",");
  const terms: OrderTerm[] = [];
  const seen = new Set<string>();
  const add = (field: string | undefined, direction: "asc" | "desc"): void => {
    if (field === undefined || field === "") return;
    const parameter = `order_${direction}`;
    if (!allowed.has(field))
      throw parameterValueError(parameter, field, `is not one of ${[...allowed].join(", ")}`);
    if (seen.has(field))
      throw parameterValueError(parameter, field, "is named twice in order_asc and order_desc");
    seen.add(field);
    terms.push({ field, direction });
  };
  for (let position = 0; position < Math.max(asc.length, desc.length); position++) {
    add(asc[position], "asc");
    add(desc[position], "desc");
  }
  return terms;
}
