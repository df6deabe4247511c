/**
 * Settings of glibc's allocator for an ingest, as environment variables of its process; other allocators know none of them. With
 * any of them set, glibc no longer raises by itself from what size on a block is a mapping of its own, which goes back to the
 * system when it is freed. It raises it to 32 MB for a process that frees large ones; blocks of some hundred kilobytes, which
 * an ingest takes and frees all the time, then leave its arenas in pieces: 30 of 480 MB in a backfill (decision 139).
 */
export const INGEST_MALLOC = { MALLOC_MMAP_THRESHOLD_: "262144" } as const;
