import { lenientList, objectShape } from "../contract/fields.ts";
import * as z from "zod";
import { HttpFailure, type HttpRequest } from "../../runtime/http-call.ts";
import { exchange } from "../contract/answers.ts";
import { outageOf, type TryLater } from "../contract/outcome.ts";
import { originOf } from "../contract/text.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { classify } from "./errors.ts";
import { traitsOf } from "./servers.ts";
import { apiGet, type Leg } from "./state.ts";

/** https://nodeinfo.diaspora.software/protocol: a list of documents, one for each version of the schema. */
const listShape = objectShape(() => ({
  links: lenientList(z.object({ rel: z.string(), href: z.string() })),
}));
const SCHEMA = "http://nodeinfo.diaspora.software/ns/schema/";
const nodeinfoShape = objectShape(() => ({ software: z.object({ name: z.string().max(100) }) }));

/** Returns the name of the software that a server runs; null when it names none, and why when it does not answer. */
export async function findSoftware(
  origin: string,
  tools: NetworkTools,
): Promise<string | null | TryLater> {
  const get = (url: string) =>
    readDocument({ method: "GET", url, headers: { accept: "application/json" } }, tools);
  const list = await get(`${origin}/.well-known/nodeinfo`);
  if (!("body" in list)) return list;
  const links = listShape().safeParse(list.body).data?.links ?? [];
  const href = links.find((link) => link.rel.startsWith(SCHEMA))?.href ?? "";
  // Another server's document says nothing about this one.
  if (originOf(href) !== origin) return null;
  const document = await get(href);
  if (!("body" in document)) return document;
  const { data } = nodeinfoShape().safeParse(document.body);
  return data === undefined ? null : data.software.name.toLowerCase();
}

/** Returns a document; without a body to read where there is none. */
async function readDocument(
  request: HttpRequest,
  tools: NetworkTools,
): Promise<{ readonly body: unknown } | TryLater> {
  const answer = await exchange(tools, request);
  if (answer instanceof HttpFailure) return outageOf(answer);
  if (answer.status === 429 || answer.status >= 500) return outageOf(classify(answer, tools.now()));
  return { body: answer.status === 200 ? answer.json() : undefined };
}

function keepsKeys(software: string | null | undefined): boolean {
  const { keys } = traitsOf(software);
  return keys === "locked" || keys === "kept";
}

/** Returns whether the leg's server keeps idempotency keys. */
export async function findKeepsKeys({ credentials, tools }: Leg): Promise<boolean | TryLater> {
  const found = credentials.software ?? (await findSoftware(credentials.origin, tools));
  return typeof found === "object" && found !== null ? found : keepsKeys(found);
}

/** Returns whether the leg's server keeps idempotency keys, as it was found before the first visible call. */
export function keepsKeysOf({ remote, credentials }: Leg): boolean {
  return remote.keepsKeys ?? keepsKeys(credentials.software);
}

/**
 * Returns whether the server holds a repeat with the same key until the first call has ended, as Mastodon itself does.
 * Returns false if the server's software is unknown.
 */
export function holdsRepeats({ credentials }: Leg): boolean {
  return traitsOf(credentials.software).keys === "locked";
}

const ownAccountShape = objectShape(() => ({ source: z.object({ privacy: z.string().max(20) }) }));

/** Returns the visibility of the account's posts that name none, as it is now; undefined when the server hides it. */
export async function findDefaultVisibility({
  credentials,
  tools,
}: Leg): Promise<string | undefined | TryLater> {
  const document = await readDocument(apiGet(credentials, "accounts/verify_credentials"), tools);
  if (!("body" in document)) return document;
  return ownAccountShape().safeParse(document.body).data?.source.privacy;
}
