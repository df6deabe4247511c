/**
 * The finest rows that an index keeps whole. Where retention would remove events at once, each pool's last one of an hour is
 * enough; where it would remove minutes too, each pool's last one (docs/decisions/0136).
 */
export type Detail = "events" | "minutes" | "hours";
