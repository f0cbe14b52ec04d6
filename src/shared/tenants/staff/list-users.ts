import type { SessionScope } from "../../callers/scope.ts";
import { toPage, type Page } from "../../runtime/page.ts";
import type { TenantsDeps } from "../deps.ts";
import type { ListUsers } from "./schema.ts";
import { viewUser, type UserView } from "./user.ts";

/** The staff of the caller's platform, newest first. @throws AppError `invalid_cursor` */
export async function listUsers(
  services: TenantsDeps,
  { platformId }: SessionScope,
  { limit, cursor }: ListUsers,
): Promise<Page<UserView>> {
  const bound = { list: "users", platformId };
  const after = services.cursors.read(cursor, bound);
  const listed = await services.users.list(platformId, after, limit);
  const makeCursor = (next: string) => services.cursors.make(next, bound);
  return toPage(listed, limit, makeCursor, viewUser);
}
