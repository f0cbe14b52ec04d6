import { spare } from "../contract/fields.ts";
import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { exchange } from "../contract/answers.ts";
import { type HttpResponse, HttpFailure } from "../../runtime/http-call.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { restRequest } from "./request.ts";
import type { Tokens } from "./session.ts";

/** Under both of the names that the documents use for one of them. */
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

export const organizationShape = shape(() =>
  z.object({
    id: z.string(),
    name: z.string(),
    vanityName: z.string(),
    /** Whether it is a showcase page, which has its own kind of URN. */
    isBrand: z.boolean().optional(),
    /** Who administers it, as this app alone knows that person. */
    member: z.string(),
  }),
);
export type Organization = ShapeOf<typeof organizationShape>;

const organizationUrn = shape(() => z.string().regex(/^urn:li:organization(?:Brand)?:\d+$/));
const roleShape = shape(() =>
  z.object({
    organization: spare(organizationUrn()),
    organizationTarget: spare(organizationUrn()),
    role: z.string(),
    roleAssignee: spare(z.string(), ""),
    state: spare(z.string(), "APPROVED"),
  }),
);
const pageShape = shape(() => z.object({ elements: z.array(z.unknown()) }));
const nameShape = shape(() =>
  z.object({
    localizedName: z.string().trim().min(1),
    vanityName: spare(z.string(), ""),
  }),
);

interface FoundOrganizations {
  readonly organizations: readonly Organization[];
  /** Whether there are more. */
  readonly isCut: boolean;
}

/** Returns the organisations that the token's member may publish for, or the answer that named none. */
export async function findOrganizations(
  tokens: Tokens,
  tools: NetworkTools,
): Promise<FoundOrganizations | HttpResponse | HttpFailure> {
  const found = new Map<string, Held>();
  let isCut = true;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const answer = await exchange(tools, listRoles(tokens, page * PAGE_LENGTH, tools));
    if (answer instanceof HttpFailure) return answer;
    const parsed = pageShape().safeParse(answer.json());
    if (answer.status !== 200 || !parsed.success) return answer;
    const { elements } = parsed.data;
    for (const held of elements.flatMap(publishingRole)) found.set(held.id, held);
    isCut = elements.length >= PAGE_LENGTH;
    if (!isCut) break;
  }
  return { organizations: await nameAll([...found.values()], tokens, tools), isCut };
}

type Held = Pick<Organization, "id" | "member" | "isBrand">;

/** Returns the organisation if the role may publish for it. */
function publishingRole(element: unknown): readonly Held[] {
  const held = roleShape().safeParse(element).data;
  if (held?.state !== "APPROVED" || !PUBLISHING_ROLES.has(held.role)) return [];
  const urn = held.organization ?? held.organizationTarget ?? "";
  const id = /:(\d+)$/.exec(urn)?.[1];
  if (id === undefined) return [];
  const isBrand = urn.startsWith("urn:li:organizationBrand:");
  return [{ id, member: held.roleAssignee, ...(isBrand ? { isBrand } : {}) }];
}

function listRoles(tokens: Tokens, start: number, tools: NetworkTools) {
  const query = `q=roleAssignee&state=APPROVED&start=${start}&count=${PAGE_LENGTH}`;
  return restRequest(`organizationAcls?${query}`, tokens, tools);
}

async function nameAll(
  found: readonly Held[],
  tokens: Tokens,
  tools: NetworkTools,
): Promise<readonly Organization[]> {
  const organizations: Organization[] = [];
  for (let start = 0; start < found.length; start += NAMED_AT_ONCE) {
    const some = found.slice(start, start + NAMED_AT_ONCE);
    const named = some.map(async (held) => {
      const { id } = held;
      const name = start < NAMED_MAX ? await readName(id, tokens, tools) : undefined;
      return {
        ...held,
        name: name?.name ?? `LinkedIn ${id}`,
        vanityName: name?.vanityName ?? "",
      };
    });
    organizations.push(...(await Promise.all(named)));
  }
  return organizations;
}

/** Returns an organisation's name; undefined if it can't be read, and the page is then shown by its number. */
async function readName(
  id: string,
  tokens: Tokens,
  tools: NetworkTools,
): Promise<Pick<Organization, "name" | "vanityName"> | undefined> {
  const request = restRequest(`organizations/${id}`, tokens, tools);
  const answer = await exchange(tools, { ...request, timeoutMs: NAME_TIMEOUT_MS });
  if (answer instanceof HttpFailure || answer.status !== 200) return undefined;
  const parsed = nameShape().safeParse(answer.json()).data;
  return parsed && { name: parsed.localizedName, vanityName: parsed.vanityName };
}
