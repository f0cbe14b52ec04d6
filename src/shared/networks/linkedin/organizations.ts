import { lenientList, objectShape, lenient } from "../contract/fields.ts";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { exchange } from "../contract/answers.ts";
import { inForm, tryRead } from "../contract/ask.ts";
import { inBatches } from "../../runtime/promises.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { restRequest } from "./request.ts";
import type { Tokens } from "./state.ts";

/** The documents use two names for one of them. */
const PUBLISHING_ROLES: ReadonlySet<string> = new Set([
  "ADMINISTRATOR",
  "CONTENT_ADMIN",
  "CONTENT_ADMINISTRATOR",
  "DIRECT_SPONSORED_CONTENT_POSTER",
]);
const PAGE_LENGTH = 100;
const PAGES_MAX = 10;
/** Each name takes a call while the person waits. Further pages are listed by their numbers. */
const NAMED_MAX = 40;
const NAMED_AT_ONCE = 10;
const NAME_TIMEOUT_MS = 8000;

export const organizationShape = objectShape(() => ({
  id: z.string(),
  name: z.string(),
  vanityName: z.string(),
  /** Whether it is a showcase page, which has its own kind of URN. */
  isBrand: z.boolean().optional(),
  /** Its administrator, by an id that only this app has for that person. */
  member: z.string(),
}));
export type Organization = ShapeOf<typeof organizationShape>;

const organizationUrn = shape(() => z.string().regex(/^urn:li:organization(?:Brand)?:\d+$/));
const roleShape = objectShape(() => ({
  organization: lenient(organizationUrn()),
  organizationTarget: lenient(organizationUrn()),
  role: z.string(),
  roleAssignee: lenient(z.string(), ""),
  state: lenient(z.string(), "APPROVED"),
}));
const pageShape = objectShape(() => ({
  elements: z.array(z.unknown()),
  paging: lenient(
    z.object({
      links: lenient(lenientList(z.object({ rel: lenient(z.string()) }))),
      total: lenient(z.number()),
    }),
  ),
}));
const nameShape = objectShape(() => ({
  localizedName: z.string().trim().min(1),
  vanityName: lenient(z.string(), ""),
}));

interface FoundOrganizations {
  readonly organizations: readonly Organization[];
  /** Organizations in which the member's role doesn't allow posts. */
  readonly barred: readonly Organization[];
  readonly isCut: boolean;
}

/** Returns the organizations in which the token's member has a role, or the answer that named none. */
export async function findOrganizations(
  tokens: Tokens,
  tools: NetworkTools,
): Promise<FoundOrganizations | HttpResponse | HttpFailure> {
  const found = new Map<string, HeldRole>();
  let isCut = true;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const query = `q=roleAssignee&state=APPROVED&start=${page * PAGE_LENGTH}&count=${PAGE_LENGTH}`;
    const request = restRequest(`organizationAcls?${query}`, { credentials: tokens, tools });
    const answer = await exchange(tools, request);
    if (answer instanceof HttpFailure) return answer;
    const roles = inForm(pageShape)(answer);
    if (roles === undefined) return answer;
    // A member may have several roles in one. The best one counts.
    for (const held of roles.elements.flatMap(heldRole))
      if (held.mayPublish || !found.has(held.id)) found.set(held.id, held);
    isCut = hasNext(roles, (page + 1) * PAGE_LENGTH);
    if (!isCut) break;
  }
  // Those that can be chosen get their names first.
  const held = [...found.values()].toSorted(
    (left, right) => Number(right.mayPublish) - Number(left.mayPublish),
  );
  const names = await inBatches(held.slice(0, NAMED_MAX), NAMED_AT_ONCE, ({ id }) =>
    readName(id, tokens, tools),
  );
  const named = held.map(({ mayPublish, ...one }, index) => {
    const { name = `LinkedIn ${one.id}`, vanityName = "" } = names[index] ?? {};
    return { mayPublish, organization: { ...one, name, vanityName } };
  });
  const which = (isUsable: boolean) =>
    named.flatMap(({ mayPublish, organization }) =>
      mayPublish === isUsable ? [organization] : [],
    );
  return { organizations: which(true), barred: which(false), isCut };
}

/**
 * Reports whether there is another page. Entries are filtered after a page is cut, so only links tell, or the total. A
 * page that has neither is the last when it is short.
 */
function hasNext({ elements, paging }: ShapeOf<typeof pageShape>, end: number): boolean {
  const { links, total } = paging ?? {};
  if (links?.some(({ rel }) => rel === "next") === true) return true;
  return total === undefined ? elements.length >= PAGE_LENGTH : total > end;
}

interface HeldRole extends Pick<Organization, "id" | "member" | "isBrand"> {
  readonly mayPublish: boolean;
}

function heldRole(element: unknown): readonly HeldRole[] {
  const held = roleShape().safeParse(element).data;
  if (held?.state !== "APPROVED") return [];
  const mayPublish = PUBLISHING_ROLES.has(held.role);
  const urn = held.organization ?? held.organizationTarget ?? "";
  const id = /:(\d+)$/.exec(urn)?.[1];
  if (id === undefined) return [];
  const isBrand = urn.startsWith("urn:li:organizationBrand:");
  return [{ id, mayPublish, member: held.roleAssignee, ...(isBrand ? { isBrand } : {}) }];
}

/** Returns an organization's name. Undefined if it can't be read, and the page is then shown by its number. */
async function readName(
  id: string,
  tokens: Tokens,
  tools: NetworkTools,
): Promise<Pick<Organization, "name" | "vanityName"> | undefined> {
  const request = restRequest(`organizations/${id}`, { credentials: tokens, tools });
  const named = await tryRead({ ...request, timeoutMs: NAME_TIMEOUT_MS }, nameShape, tools);
  return named && { name: named.localizedName, vanityName: named.vanityName };
}
