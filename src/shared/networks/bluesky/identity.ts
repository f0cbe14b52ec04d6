import { lenientList, objectShape, lenient } from "../contract/fields.ts";
import * as z from "zod";
import type { ShapeOf } from "../../runtime/shape.ts";
import { exchange } from "../contract/answers.ts";
import { inForm, tryRead } from "../contract/ask.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { type LinkFailure, type Account, linkFailed } from "../contract/link.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { followRedirects } from "../contract/redirects.ts";
import { originOf, typedAddress } from "../contract/text.ts";
import { query } from "./request.ts";
import { type Credentials, sessionIdOf } from "./state.ts";

/** Knows every account's handle and public profile, and asks nobody who he is. */
const PUBLIC_VIEW = "https://public.api.bsky.app";
const PLC_DIRECTORY = "https://plc.directory";

/** Logs in for every account of the network's own servers, and knows email addresses, which no directory does. */
export const LOGIN_HOST = "https://bsky.social";
const OWN_SERVERS = /\.host\.bsky\.network$/;

/** Reports whether the network's own login host serves this server. */
export function isOwnServer(origin: string): boolean {
  return OWN_SERVERS.test(new URL(origin).hostname);
}

export const DOCUMENT = objectShape(() => ({
  id: z.string(),
  alsoKnownAs: lenient(lenientList(z.string()), []),
  service: lenient(
    lenientList(z.object({ id: z.string(), serviceEndpoint: z.unknown().optional() })),
  ),
}));

type Did = `did:plc:${string}` | `did:web:${string}`;
const DID = /^did:(?:plc:[a-z2-7]{24}|web:[a-z0-9.%-]+)$/i;
const DID_CHARACTERS_MAX = 2_048;
const isDid = (text: string): text is Did => DID.test(text);

/** Short, because somebody waits, and what can't be resolved in time is asked for in another way or left out. */
const HANDLE_TIMEOUT_MS = 5_000;

/**
 * Returns the DID that a handle stands for: as the server at `origin` knows it, or else as the handle's own domain says
 * (atproto.com/specs/handle).
 */
export async function resolveHandle(
  handle: string,
  tools: NetworkTools,
  origin = PUBLIC_VIEW,
): Promise<Did | LinkFailure> {
  const known = await askService(handle, tools, origin);
  if (typeof known === "string") return known;
  return (await askDomain(handle, tools)) ?? known;
}

/** Asks a handle's own domain in both ways that the protocol has. */
async function askDomain(handle: string, tools: NetworkTools): Promise<Did | undefined> {
  const ask = (url: string) =>
    exchange(tools, { method: "GET", url, timeoutMs: HANDLE_TIMEOUT_MS });
  const [texts, arrived] = await Promise.all([
    tools.dnsTexts(`_atproto.${handle}`),
    followRedirects(`https://${handle}/.well-known/atproto-did`, ask),
  ]);
  const [byName = "", ...others] = texts.filter((text) => text.startsWith("did="));
  const named = byName.slice("did=".length).trim();
  // More than one text means that the domain is not set up correctly, so none counts.
  if (others.length === 0 && isDid(named)) return named;
  if (typeof arrived === "string" || arrived.answer instanceof HttpFailure) return undefined;
  const { answer } = arrived;
  const did = answer.status === 200 ? answer.text().slice(0, DID_CHARACTERS_MAX).trim() : "";
  return isDid(did) ? did : undefined;
}

async function askService(
  handle: string,
  tools: NetworkTools,
  origin: string,
): Promise<Did | LinkFailure> {
  const request = query(origin, "com.atproto.identity.resolveHandle", { handle });
  const answer = await exchange(tools, { ...request, timeoutMs: HANDLE_TIMEOUT_MS });
  if (answer instanceof HttpFailure) return linkFailed("network_unavailable", answer.message);
  const { did } = inForm(() => z.object({ did: z.string() }))(answer) ?? {};
  if (did !== undefined && isDid(did)) return did;
  return answer.status >= 400 && answer.status < 500 && answer.status !== 429
    ? linkFailed("account_not_found", "the handle is not known")
    : linkFailed("network_unavailable", `resolving the handle was answered with ${answer.status}`);
}

/** Returns the origin of the account's own server. */
export async function resolveServer(
  did: string,
  tools: NetworkTools,
): Promise<string | LinkFailure> {
  const document = await readDocument(did, tools);
  if ("code" in document) return document;
  return serverIn(document) ?? linkFailed("account_not_found", "the account names no server");
}

export function serverIn({ id: did, service: services }: ShapeOf<typeof DOCUMENT>) {
  const names: unknown[] = ["#atproto_pds", `${did}#atproto_pds`];
  const service = services?.find((each) => names.includes(each.id));
  return typeof service?.serviceEndpoint === "string"
    ? originOf(service.serviceEndpoint)
    : undefined;
}

async function readDocument(
  did: string,
  tools: NetworkTools,
): Promise<ShapeOf<typeof DOCUMENT> | LinkFailure> {
  const unknown = linkFailed("account_not_found", "the account has no document");
  const url = documentUrl(did);
  if (url === undefined) return unknown;
  const answer = await exchange(tools, { method: "GET", url });
  if (answer instanceof HttpFailure) return linkFailed("network_unavailable", answer.message);
  if (answer.status === 404 || answer.status === 410) return unknown;
  if (answer.status !== 200)
    return linkFailed("network_unavailable", `the DID document was answered with ${answer.status}`);
  const document = inForm(DOCUMENT)(answer);
  return document?.id === did ? document : unknown;
}

interface NamedAccount {
  readonly did: string;
  /** The handle that the account's server states. */
  readonly handle: string;
  readonly pds: string;
}

/**
 * Returns the account's handle if it can be verified, or else its DID. A server may claim any handle for its accounts.
 * So the handle has to lead to the DID and the DID's document has to name the handle, unless the handle is a name below
 * the server's own host.
 */
async function vouchedHandle(
  { did, handle, pds }: NamedAccount,
  tools: NetworkTools,
): Promise<string> {
  const identifier = readIdentifier(handle, false);
  if (identifier?.kind !== "handle") return did;
  const name = identifier.value;
  if (name.endsWith(`.${new URL(pds).hostname}`)) return name;
  const [resolved, document] = await Promise.all([
    resolveHandle(name, tools),
    readDocument(did, tools),
  ]);
  if ("code" in document) return did;
  const isNamed = document.alsoKnownAs.some((alias) => alias.toLowerCase() === `at://${name}`);
  return resolved === did && isNamed ? name : did;
}

function documentUrl(did: string): string | undefined {
  if (/^did:plc:[a-z2-7]{24}$/.test(did)) return `${PLC_DIRECTORY}/${did}`;
  const web = /^did:web:([a-z0-9.-]+(?:%3A\d+)?)$/i.exec(did)?.[1];
  const origin = web === undefined ? undefined : originOf(`https://${decodeURIComponent(web)}`);
  return origin === undefined ? undefined : `${origin}/.well-known/did.json`;
}

/** What people type for an account: `@name`, a profile's address, `at://…`, a bare name, a DID, an email address. */
export interface Identifier {
  readonly kind: "handle" | "did" | "email";
  readonly value: string;
}

/** A page of a profile, in the network's app or in another one that names it the same way. */
const PROFILE_PAGE = /^(?:https?:\/\/)?[^/?#\s]+\/profile\/([^/?#\s]+)/i;
/** Returns the handle of an address without a path. The network's own handles lead to their profiles from any page. */
function siteIn(text: string): string | undefined {
  const address = text.replace(/^https?:\/\//i, "").replace(/[?#][^]*/, "");
  const [host = "", ...path] = address.split("/");
  const isSite = path.join("") === "" || host.toLowerCase().endsWith(".bsky.social");
  return isSite ? host : undefined;
}

/** Returns the handle or DID in the address of a profile or a record. Any other text stays unchanged. */
function accountIn(text: string): string {
  const record = /^at:\/\/([^/?#\s]*)/i.exec(text)?.[1];
  const account = record ?? PROFILE_PAGE.exec(text)?.[1] ?? siteIn(text) ?? text;
  try {
    return decodeURIComponent(account);
  } catch {
    return account;
  }
}

/** Returns a domain name in another script as it is sent on the wire. */
function inAscii(name: string): string {
  const isPlain = /^[\x21-\x7e]*$/.test(name) || /[\s/@:?#]/.test(name);
  return isPlain || !URL.canParse(`https://${name}`) ? name : new URL(`https://${name}`).hostname;
}

export function readIdentifier(typed: string, isPublic: boolean): Identifier | undefined {
  const text = accountIn(typedAddress(typed)).replace(/^@+/, "");
  if (DID.test(text)) return { kind: "did", value: text.toLowerCase() };
  if (/^[^\s@/]+@[^\s@/][^\s@/.]*\.[^\s@/]+$/.test(text)) return { kind: "email", value: text };
  const name = inAscii(text.toLowerCase().replace(/\.$/, ""));
  // The network's own app completes a bare name in the same way.
  const handle = isPublic && /^[a-z0-9-]+$/.test(name) ? `${name}.bsky.social` : name;
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(handle) && handle.length <= 253
    ? { kind: "handle", value: handle }
    : undefined;
}

const profileShape = objectShape(() => ({
  displayName: lenient(z.string()),
  avatar: lenient(z.url()),
}));
const limitsShape = objectShape(() => ({ blobUploadLimit: z.number().int().positive() }));

/**
 * Returns the account with its public profile. Without a profile, which that view may not know, it is shown by its
 * handle, and without a handle that can be vouched for by its DID.
 */
export async function readAccount(named: NamedAccount, tools: NetworkTools): Promise<Account> {
  const { did } = named;
  const [profile, handle] = await Promise.all([
    tryRead(query(PUBLIC_VIEW, "app.bsky.actor.getProfile", { actor: did }), profileShape, tools),
    vouchedHandle(named, tools),
  ]);
  return {
    id: did,
    username: handle,
    displayName: profile?.displayName?.trim() || handle,
    avatarUrl: profile?.avatar ?? null,
    url: `https://bsky.app/profile/${did}`,
    kind: "person",
  };
}

async function readLimits(pds: string, tools: NetworkTools): Promise<Record<string, number>> {
  const request = query(pds, "com.atproto.server.describeServer");
  const stated = await tryRead(request, limitsShape, tools);
  return stated === undefined ? {} : { blobBytesMax: stated.blobUploadLimit };
}

/** Returns what is linked, but for the time that it lasts and what it may do. */
export async function describe(credentials: Credentials, handle: string, tools: NetworkTools) {
  const { did, pds } = credentials;
  const [account, limits] = await Promise.all([
    readAccount({ did, handle, pds }, tools),
    readLimits(pds, tools),
  ]);
  return { account, credentials, instanceUrl: pds, limits, grantId: sessionIdOf(credentials) };
}
