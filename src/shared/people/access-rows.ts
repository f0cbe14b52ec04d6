import type { Maker } from "../callers/caller.ts";
import {
  isKeyActive,
  type RowSource,
  type TenantRows,
  tenantRows,
  type TenantsDeps,
} from "../tenants/tenants.ts";
import type { PeopleDeps } from "./deps.ts";
import { isSessionLive, type User } from "./staff/user.ts";

/** The rows that a caller is checked against. */
export interface AccessRows extends TenantRows {
  user(platformId: string, userId: string): Promise<User | undefined>;
}

interface RowReaders {
  readonly tenants: TenantsDeps;
  readonly people: Pick<PeopleDeps, "stores">;
}

export function accessRows(
  { tenants, people }: RowReaders,
  source: RowSource,
  about: Pick<AccessRows, "areCached" | "accessVersion" | "platformId">,
): AccessRows {
  const { users } = people.stores;
  return {
    ...tenantRows(tenants, source, about),
    user: (platformId, id) => source(`U|${id}`, () => users.find(platformId, id)),
  };
}

/** Makes rows that are read from storage when they are needed. */
export function storedRows(readers: RowReaders): AccessRows {
  return accessRows(readers, (_name, read) => read(), { areCached: false, accessVersion: "" });
}

/**
 * Reports whether a key is active, or a session has not been ended. The grants and connect sessions that it made end with
 * it. A session that has expired was not ended.
 */
export async function isMakerActive(
  rows: Pick<AccessRows, "key" | "user">,
  { platformId, maker }: { readonly platformId: string; readonly maker: Maker },
  now: Date,
): Promise<boolean> {
  const { id, session } = maker;
  if (session === null) return await isKeyActive(rows, id, now);
  const user = await rows.user(platformId, id);
  return user !== undefined && isSessionLive(user, session);
}
