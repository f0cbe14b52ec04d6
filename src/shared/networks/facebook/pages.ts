import { lenientList, objectShape, lenient } from "../contract/fields.ts";
import * as z from "zod";
import type { ShapeOf } from "../../runtime/shape.ts";
import { idShape } from "../contract/answers.ts";
import { tryRead } from "../contract/ask.ts";
import { type EdgeRead, isEdge, readEdge, type GraphAccess, graphGet } from "../graph/request.ts";
import { refusedLink } from "../contract/oauth.ts";
import { type LinkFailure, linkFailed } from "../contract/link.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { inBatches } from "../../runtime/promises.ts";
import { classify } from "./errors.ts";
import { appAccess } from "./state.ts";

const FIELDS = "id,name,username,tasks,access_token,picture{url}";
const PAGE_LENGTH = 100;
const BUSINESSES_LENGTH = 25;
/** Per list. */
const ENTRIES_MAX = 1_000;
const SINGLE_PAGES_MAX = 50;
const BUSINESSES_MAX = 50;
const AT_ONCE = 10;
/**
 * The guide on access tokens only names `CREATE_CONTENT`. Those with the prefix are of the New Pages Experience, which
 * most pages now have (`PermittedTasks` of `Page` in Meta's SDKs). Full control includes all.
 */
const PUBLISHING_TASKS = [
  "CREATE_CONTENT",
  "MANAGE",
  "PROFILE_PLUS_CREATE_CONTENT",
  "PROFILE_PLUS_FULL_CONTROL",
] as const;

/** A page as lists show it, and as it is kept until one is chosen. */
export const pageShape = objectShape(() => ({
  id: idShape(),
  name: lenient(z.string(), ""),
  username: lenient(z.string()),
  access_token: lenient(z.string().min(1)),
  /** Some lists don't say. */
  tasks: lenient(z.array(z.string())),
  picture: lenient(z.object({ data: z.object({ url: z.url() }) })),
}));
export type FacebookPage = ShapeOf<typeof pageShape>;

/** The pages that the person may publish for. */
export interface FoundPages {
  readonly pages: readonly FacebookPage[];
  /** Pages on which the person's role doesn't allow posts. */
  readonly barred: readonly FacebookPage[];
  /** Whether it is known that there are no others. */
  readonly isComplete: boolean;
  /** Whether there are more than were read. */
  readonly isCut: boolean;
}

/** One of the lists. */
interface ListedPages extends EdgeRead<FacebookPage> {
  /** Whether it could be read. */
  readonly isRead: boolean;
}

const UNREAD: ListedPages = { entries: [], isCut: false, isRead: false };

/**
 * Finds the pages that the person may publish for, from several lists, because the plain list sometimes omits pages of
 * a business portfolio that were allowed. The result is complete when all lists could be read, or when the person
 * allowed single pages and all of these were found.
 */
export async function findPages(access: GraphAccess): Promise<FoundPages | LinkFailure> {
  const listed = await listPages("me/accounts", access);
  if ("kind" in listed) return listed;
  const known = listed.entries.length > 0 ? listed : await pagesOfPerson(access);
  const [allowed, ofBusinesses] = await Promise.all([
    pagesOfToken(access, known.entries),
    pagesOfBusinesses(access),
  ]);
  const lists = [listed, known, ...ofBusinesses, allowed];
  const all = lists.flatMap(({ entries }) => entries);
  const pages = publishable(all);
  // A page without a token is not one of those: why it has none is not known.
  const others = all.filter(
    (listed) => !allowsPosts(listed) && pages.every(({ id }) => id !== listed.id),
  );
  return {
    pages,
    barred: [...new Map(others.map((page) => [page.id, page])).values()],
    isComplete: allowed.isWhole || [listed, ...ofBusinesses].every(({ isRead }) => isRead),
    isCut: lists.some(({ isCut }) => isCut),
  };
}

/** Reports whether the person's role on the page allows posts, as far as the list says. */
function allowsPosts({ tasks }: FacebookPage): boolean {
  return tasks === undefined || PUBLISHING_TASKS.some((task) => tasks.includes(task));
}

function publishable(pages: readonly FacebookPage[]): readonly FacebookPage[] {
  const byId = new Map<string, FacebookPage>();
  for (const page of pages) {
    const { id, access_token } = page;
    if (access_token !== undefined && allowsPosts(page) && !byId.has(id)) byId.set(id, page);
  }
  return [...byId.values()];
}

async function listPages(path: string, access: GraphAccess): Promise<ListedPages | LinkFailure> {
  const lengths = { pageLength: PAGE_LENGTH, entriesMax: ENTRIES_MAX };
  const pages = await readEdge(
    access,
    { path, query: { fields: FIELDS }, ...lengths },
    pageShape(),
  );
  if (isEdge(pages)) return { ...pages, isRead: true };
  return pages instanceof HttpFailure
    ? linkFailed("network_unavailable", pages.message)
    : refusedLink(classify(pages, access.tools.now()));
}

/** Reads one of the additional addresses. Undefined if it can't be read. */
function read<Shape extends z.ZodType>(
  access: GraphAccess,
  { path, ...query }: { readonly path: string; readonly [name: string]: string },
  form: () => Shape,
) {
  return tryRead(graphGet(access, path, query), form, access.tools);
}

/** Returns a page with a new token, or undefined if the person may no longer publish for it. */
export async function readPage(id: string, access: GraphAccess): Promise<FacebookPage | undefined> {
  const page = await read(access, { path: id, fields: FIELDS }, pageShape);
  return page && publishable([page])[0];
}

async function pagesOfPerson(access: GraphAccess): Promise<ListedPages> {
  const fields = `accounts.limit(${PAGE_LENGTH}){${FIELDS}}`;
  const found = await read(access, { path: "me", fields }, () =>
    z.object({ accounts: z.object({ data: z.array(pageShape()) }) }),
  );
  return { entries: found?.accounts.data ?? [], isCut: false, isRead: found !== undefined };
}

const granularScope = objectShape(() => ({
  scope: z.string(),
  target_ids: lenient(lenientList(idShape()), []),
}));
const scopesShape = () =>
  z.object({ data: z.object({ granular_scopes: lenientList(granularScope()) }) });

/** Returns the pages that the token itself names: those that were selected in the dialog. */
async function pagesOfToken(
  access: GraphAccess,
  known: readonly FacebookPage[],
): Promise<ListedPages & { readonly isWhole: boolean }> {
  const query = { path: "debug_token", input_token: access.token };
  const debugged = await read(appAccess(access.tools), query, scopesShape);
  const named = new Set(
    (debugged?.data.granular_scopes ?? [])
      .filter(({ scope }) => scope.startsWith("pages_"))
      .flatMap((granted) => granted.target_ids)
      .filter((id) => /^\d+$/.test(id)),
  );
  const missing = [...named].filter((id) => known.every((page) => page.id !== id));
  const pages = await inBatches(missing.slice(0, SINGLE_PAGES_MAX), AT_ONCE, (id) =>
    read(access, { path: id, fields: FIELDS }, pageShape),
  );
  const found = pages.filter((page) => page !== undefined);
  const isCut = missing.length > SINGLE_PAGES_MAX;
  const isWhole = named.size > 0 && found.length === missing.length;
  return { entries: found, isCut, isRead: true, isWhole };
}

async function pagesOfBusinesses(access: GraphAccess): Promise<readonly ListedPages[]> {
  const lengths = { pageLength: BUSINESSES_LENGTH, entriesMax: BUSINESSES_MAX };
  const edge = { path: "me/businesses", query: { fields: "id,name" }, ...lengths };
  const businesses = await readEdge(access, edge, z.object({ id: z.string().regex(/^\d+$/) }));
  if (!isEdge(businesses)) return [UNREAD];
  const paths = businesses.entries
    .slice(0, BUSINESSES_MAX)
    .flatMap(({ id }) => [`${id}/owned_pages`, `${id}/client_pages`]);
  const lists = await inBatches(paths, AT_ONCE, async (path) => {
    const pages = await listPages(path, access);
    return "kind" in pages ? UNREAD : pages;
  });
  return [...lists, { ...UNREAD, isCut: businesses.isCut, isRead: true }];
}
