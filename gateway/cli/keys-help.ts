import { FAMILIES } from "../auth/keys/key-record.ts";

export const KEYS_USAGE = `Usage:
  npm run keys -- create --label <text> [settings]
  npm run keys -- list [--owner <text>]
  npm run keys -- set <id> [settings]
  npm run keys -- rotate <id> [--overlap 24h] [--expires <n>d|<n>h|never]
  npm run keys -- suspend <id>
  npm run keys -- resume <id>
  npm run keys -- revoke <id>
  npm run keys -- usage [<id>] [--days 7]

Settings:
  --label <text>                name of the key
  --owner <text>                client it belongs to; a client may have several keys
  --note <text>                 any note
  --scopes ${FAMILIES.join(",").padEnd(27)} endpoint families it may request; all by default
  --expires <n>d|<n>h|never     counted from now; never by default
  --rate <n>|default            requests a second in the long run, such as 0.5 or 100
  --burst <n>|default           requests at once
  --daily-quota <n>|none|default  requests a UTC day
Defaults are the gateway's: KEY_RATE, KEY_BURST, KEY_DAILY_QUOTA. Every command takes --json.

create   creates a key and shows it, once.
list     shows every key by id; the keys themselves are stored nowhere.
set      changes the given settings.
rotate   creates a key with the same settings and shows it, once; the old one expires after the overlap. Both count
         against the same limits. The new one has the old one's lifetime unless --expires is given.
suspend  refuses a key until it is resumed.
revoke   ends a key permanently.
usage    shows the requests of one key by day and endpoint, or of every key.

Running gateways apply a change within 10 seconds, with REDIS_URL at once.
The store is the one the gateway uses: MONGODB_URL, or the embedded database of the server on DATA_DIR.
`;
