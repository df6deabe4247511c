import { SERVICE_NAMES } from "../settings/settings.ts";

/** Who has a store of its own: each service for its index, the gateway for keys, usage and payments. */
export const STORE_NAMES = [...SERVICE_NAMES, "gateway"] as const;
export type StoreName = (typeof STORE_NAMES)[number];
