import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import { exchange, idShape } from "../contract/answers.ts";
import { isEdge, readEdge, type GraphAccess, graphGet } from "../graph/request.ts";
import { refusedLink } from "../graph/link.ts";
import { type LinkFailure, linkFailed } from "../contract/link.ts";
import { type NetworkTools, appOf } from "../contract/tools.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { classify } from "./errors.ts";
import { accessFor } from "./state.ts";

const FIELDS = "id,name,username,tasks,access_token,picture{url}";
const PAGE_LENGTH = 100;
const LISTS_MAX = 5;
const SINGLE_PAGES_MAX = 25;
const BUSINESSES_MAX = 10;
const PAGES_MAX = 200;
/**
 * The guide on access tokens names `CREATE_CONTENT` alone. Those with the prefix are of pages of the New Pages Experience,
 * which most are by now (`PermittedTasks` of `Page` in Meta's SDKs); full control includes all.
 */
const PUBLISHING_TASKS = [
  "CREATE_CONTENT",
  "MANAGE",
  "PROFILE_PLUS_CREATE_CONTENT",
  "PROFILE_PLUS_FULL_CONTROL",
] as const;

const pageShape = shape(() =>
  z.object({
    id: idShape(),
    name: z.string().catch(""),
    username: z.string().nullish().catch(null),
    access_token: z.string().min(1).optional().catch(undefined),
    /** Some lists do not tell. */
    tasks: z.array(z.string()).optional().catch(undefined),
    picture: z
      .object({ data: z.object({ url: z.url() }) })
      .optional()
      .catch(undefined),
  }),
);
type ListedPage = ShapeOf<typeof pageShape>;

/** A page that the person may publish for. */
export interface FacebookPage {
  readonly id: string;
  readonly name: string;
  readonly username: string | null;
  readonly token: string;
  readonly pictureUrl: string | null;
}

/**
 * Returns the pages that the person may publish for, from several lists: the plain list sometimes leaves out pages of
 * a business portfolio, even if they were allowed.
 */
export async function findPages(
  access: GraphAccess,
  tools: NetworkTools,
): Promise<readonly FacebookPage[] | LinkFailure> {
  const listed = await listPages("me/accounts", access, tools);
  if ("kind" in listed) return listed;
  const known = listed.length > 0 ? listed : await pagesOfPerson(access, tools);
  const allowed = await pagesOfToken(access, known, tools);
  const found = [...known, ...allowed];
  return publishable(found.length > 0 ? found : await pagesOfBusinesses(access, tools));
}

function publishable(pages: readonly ListedPage[]): readonly FacebookPage[] {
  const byId = new Map<string, FacebookPage>();
  for (const { id, name, username, access_token: token, tasks, picture } of pages) {
    const isAllowed = tasks === undefined || PUBLISHING_TASKS.some((task) => tasks.includes(task));
    if (token === undefined || !isAllowed || byId.has(id)) continue;
    const pictureUrl = picture?.data.url ?? null;
    byId.set(id, { id, name, username: username || null, token, pictureUrl });
  }
  return [...byId.values()].slice(0, PAGES_MAX);
}

async function listPages(
  path: string,
  access: GraphAccess,
  tools: NetworkTools,
): Promise<readonly ListedPage[] | LinkFailure> {
  const query = { fields: FIELDS, limit: String(PAGE_LENGTH) };
  const pages = await readEdge(access, { path, query, pagesMax: LISTS_MAX }, pageShape(), tools);
  if (isEdge(pages)) return pages;
  return pages instanceof HttpFailure
    ? linkFailed("network_unavailable", pages.message)
    : refusedLink(classify(pages, tools.now()));
}

/** Reads one of the additional lists; undefined if it can't be read. */
async function read<Shape extends z.ZodType>(
  access: GraphAccess,
  what: { readonly path: string; readonly query: Readonly<Record<string, string>> },
  shape: Shape,
  tools: NetworkTools,
): Promise<z.infer<Shape> | undefined> {
  const answer = await exchange(tools, graphGet(access, what.path, what.query));
  if (answer instanceof HttpFailure || answer.status !== 200) return undefined;
  return shape.safeParse(answer.json()).data;
}

async function pagesOfPerson(
  access: GraphAccess,
  tools: NetworkTools,
): Promise<readonly ListedPage[]> {
  const query = { fields: `accounts.limit(${PAGE_LENGTH}){${FIELDS}}` };
  const shape = z.object({ accounts: z.object({ data: z.array(pageShape()) }) });
  return (await read(access, { path: "me", query }, shape, tools))?.accounts.data ?? [];
}

/** Returns the pages that the token itself names: those that were selected in the dialog. */
async function pagesOfToken(
  access: GraphAccess,
  known: readonly ListedPage[],
  tools: NetworkTools,
): Promise<readonly ListedPage[]> {
  const app = appOf(tools);
  const asApp = accessFor(`${app.id}|${app.secret}`, tools);
  const query = { input_token: access.token };
  const scopesShape = z.object({
    data: z.object({
      granular_scopes: z.array(
        z.object({ scope: z.string(), target_ids: z.array(idShape()).catch([]) }),
      ),
    }),
  });
  const debugged = await read(asApp, { path: "debug_token", query }, scopesShape, tools);
  const ids = (debugged?.data.granular_scopes ?? [])
    .filter(({ scope }) => scope.startsWith("pages_"))
    .flatMap((granted) => granted.target_ids)
    .filter((id) => /^\d+$/.test(id) && known.every((page) => page.id !== id));
  const pages = await Promise.all(
    [...new Set(ids)]
      .slice(0, SINGLE_PAGES_MAX)
      .map((id) => read(access, { path: id, query: { fields: FIELDS } }, pageShape(), tools)),
  );
  return pages.filter((page) => page !== undefined);
}

async function pagesOfBusinesses(
  access: GraphAccess,
  tools: NetworkTools,
): Promise<readonly ListedPage[]> {
  const shape = z.object({ data: z.array(z.object({ id: z.string().regex(/^\d+$/) })) });
  const query = { fields: "id,name", limit: String(BUSINESSES_MAX) };
  const businesses = await read(access, { path: "me/businesses", query }, shape, tools);
  const ids = (businesses?.data ?? []).slice(0, BUSINESSES_MAX).map(({ id }) => id);
  const lists = await Promise.all(
    ids
      .flatMap((id) => [`${id}/owned_pages`, `${id}/client_pages`])
      .map((path) => listPages(path, access, tools)),
  );
  return lists.flatMap((pages) => ("kind" in pages ? [] : pages));
}
