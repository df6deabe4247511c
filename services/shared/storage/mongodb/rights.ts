import { ConfigError } from "../../settings/env.ts";
import type { MongoConnection, MongoOptions } from "./connection.ts";

interface Privilege {
  readonly resource?: { readonly db?: string; readonly collection?: string; readonly anyResource?: boolean };
  readonly actions?: readonly string[];
}

/** What connectionStatus says of who is connected. */
interface AuthInfo {
  readonly authenticatedUsers?: readonly unknown[];
  readonly authenticatedUserPrivileges?: readonly Privilege[];
}

/** Whether the user of a connection may write to its database. A server without users, or one that says nothing, lets all. */
async function mayWrite(connection: MongoConnection): Promise<boolean> {
  const status = await connection
    .admin({ connectionStatus: 1, showPrivileges: true })
    .catch((error: { name?: unknown }) => {
      // Compatible servers may not know the command.
      if (error.name === "MongoServerError") return {};
      throw error;
    });
  const { authenticatedUsers = [], authenticatedUserPrivileges } = ((status as { authInfo?: AuthInfo })
    .authInfo ?? {}) as AuthInfo;
  if (authenticatedUsers.length === 0 || authenticatedUserPrivileges === undefined) return true;
  return authenticatedUserPrivileges.some(
    ({ actions = [], resource = {} }) =>
      actions.includes("insert") && isOf(resource, connection.database) && actions.includes("update"),
  );
}

/** An empty name stands for all. System collections of a database are not what rows are stored in. */
function isOf(
  { anyResource, collection, db }: NonNullable<Privilege["resource"]>,
  database: string,
): boolean {
  if (anyResource === true) return true;
  return (db === database || db === "") && !(collection ?? "").startsWith("system.");
}

/** Whether a process only reads. @throws ConfigError where it must write and may not. */
export async function isReadOnly(
  connection: MongoConnection,
  { access = "write", database }: MongoOptions,
): Promise<boolean> {
  if (access === "read" || (await mayWrite(connection))) return access === "read";
  if (access === "either") return true;
  throw new ConfigError([
    `MONGODB_URL: its user may only read ${database}, and this process writes there: give it the role readWrite`,
  ]);
}
