/**
 * SqliteOptions.logBytes. A batch of a backfill changes 100 to 200 MB of pages, half of them again with the next batch:
 * copying them after each cost a tenth of the ingest's CPU, after two or three of them half of that.
 */
export const LOG_BYTES = 2 ** 28;
