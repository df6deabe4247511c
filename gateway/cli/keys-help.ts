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
  --label <text>                what the key is called
  --owner <text>                the client it belongs to, who may have several
  --note <text>                 whatever should be known of it
  --scopes ${FAMILIES.join(",").padEnd(27)} the families of endpoints it may ask; all at first
  --expires <n>d|<n>h|never     counted from now; never at first
  --rate <n>|default            requests a second in the long run, such as 0.5 or 100
  --burst <n>|default           requests at once
  --daily-quota <n>|none|default  requests a UTC day
Defaults are the gateway's: KEY_RATE, KEY_BURST, KEY_DAILY_QUOTA. Every command takes --json.

create   makes a key and shows it, once.
list     shows every key by id; the keys themselves are stored nowhere.
set      changes what is named.
rotate   makes a new key with the same settings and shows it, once; the old one ends after the overlap. Both count
         against the same limits. The new one lives as long as the old one was meant to, unless --expires says else.
suspend  has a key refused until it is resumed.
revoke   ends a key for good.
usage    shows the requests of one key by day and endpoint, or of every key.

Running gateways know of a change within 10 seconds, with REDIS_URL at once.
The store is the one the gateway uses: MONGODB_URL, or the embedded database that the server of DATA_DIR works on.
`;
