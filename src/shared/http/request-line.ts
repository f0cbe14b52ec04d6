import { actorOf, type Caller } from "../callers/caller.ts";
import { isId } from "../runtime/ids.ts";
import type { WorkFields } from "../runtime/telemetry/work-context.ts";

const SHOWN = ["platformId", "applicationId", "profileId"] as const;

/** Ids of a scope, whichever kind of it the route's access made. */
export function idsOfScope(scope: unknown): WorkFields {
  if (typeof scope !== "object" || scope === null) return {};
  const found = SHOWN.flatMap((name) => {
    const value: unknown = Reflect.get(scope, name);
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return Object.fromEntries(found);
}

/** The post that a path names. Anything that is not an id's form may be a secret in the wrong place. */
export function idsOfPath({ postId }: Readonly<Record<string, string>>): WorkFields {
  return postId !== undefined && isId("post", postId) ? { postId } : {};
}

/** Who asked; ids only. */
export function callerFields(caller: Caller | undefined): WorkFields {
  if (caller === undefined) return {};
  const { kind, id } = actorOf(caller);
  const platformId = "platformId" in caller ? caller.platformId : undefined;
  return {
    caller: kind,
    callerId: id,
    ...(platformId === undefined ? {} : { platformId }),
  };
}
