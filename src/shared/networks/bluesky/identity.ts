import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { exchange } from "../contract/answers.ts";
import { type HttpResponse, HttpFailure, type HttpRequest } from "../../runtime/http-call.ts";
import { type LinkFailure, type Account, linkFailed } from "../contract/link.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { originOf } from "../contract/text.ts";

const HANDLE_RESOLVER = "https://public.api.bsky.app";
const PLC_DIRECTORY = "https://plc.directory";

const DOCUMENT = shape(() =>
  z.object({
    id: z.string(),
    service: z
      .array(z.object({ id: z.string(), serviceEndpoint: z.unknown().optional() }))
      .optional(),
  }),
);

/** Returns the DID that a handle stands for, as the server at `origin` knows it; undefined if it knows none. */
export async function resolveHandle(
  handle: string,
  tools: NetworkTools,
  options: { readonly origin?: string; readonly timeoutMs?: number } = {},
): Promise<string | LinkFailure | undefined> {
  const { origin = HANDLE_RESOLVER, timeoutMs } = options;
  const answer = await exchange(tools, {
    method: "GET",
    url: `${origin}/xrpc/com.atproto.identity.resolveHandle?handle=${encodeURIComponent(handle)}`,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  if (answer instanceof HttpFailure) return linkFailed("network_unavailable", answer.message);
  const parsed = z.object({ did: z.string().startsWith("did:") }).safeParse(answer.json());
  if (answer.status === 200 && parsed.success) return parsed.data.did;
  return answer.status >= 400 && answer.status < 500 && answer.status !== 429
    ? undefined
    : linkFailed("network_unavailable", `resolving the handle was answered with ${answer.status}`);
}

/**
 * Returns the origin of the account's own server, from the DID's public document; undefined if there is no such DID.
 */
export async function resolveServer(
  did: string,
  tools: NetworkTools,
): Promise<string | LinkFailure | undefined> {
  const url = documentUrl(did);
  if (url === undefined) return undefined;
  const answer = await exchange(tools, { method: "GET", url });
  if (answer instanceof HttpFailure) return linkFailed("network_unavailable", answer.message);
  if (answer.status === 404 || answer.status === 410) return undefined;
  if (answer.status !== 200)
    return linkFailed("network_unavailable", `the DID document was answered with ${answer.status}`);
  return readServer(answer, did);
}

function documentUrl(did: string): string | undefined {
  if (/^did:plc:[a-z2-7]{24}$/.test(did)) return `${PLC_DIRECTORY}/${did}`;
  const web = /^did:web:([a-z0-9.-]+(?:%3A\d+)?)$/i.exec(did)?.[1];
  const origin = web === undefined ? undefined : originOf(`https://${decodeURIComponent(web)}`);
  return origin === undefined ? undefined : `${origin}/.well-known/did.json`;
}

function readServer(answer: HttpResponse, did: string): string | undefined {
  const parsed = DOCUMENT().safeParse(answer.json());
  if (!parsed.success || parsed.data.id !== did) return undefined;
  const service = parsed.data.service?.find(
    ({ id }) => id === "#atproto_pds" || id === `${did}#atproto_pds`,
  );
  return typeof service?.serviceEndpoint === "string"
    ? originOf(service.serviceEndpoint)
    : undefined;
}

/** What people type for an account: `@name`, `at://…`, a bare name, a DID, an e-mail address. */
export interface Identifier {
  readonly kind: "handle" | "did" | "email";
  readonly value: string;
}

/** Returns the identifier that a text stands for; undefined if it is none. */
export function readIdentifier(typed: string, isPublic: boolean): Identifier | undefined {
  const text = typed.replace(/^@/, "").replace(/^at:\/\//, "");
  if (/^did:(?:plc:[a-z2-7]{24}|web:[a-z0-9.%-]+)$/i.test(text))
    return { kind: "did", value: text };
  if (/^[^\s@]+@[^\s@][^\s@.]*\.[^\s@]+$/.test(text)) return { kind: "email", value: text };
  const name = text.toLowerCase().replace(/\.$/, "");
  // The network's own app completes a bare name in the same way.
  const handle = isPublic && /^[a-z0-9-]+$/.test(name) ? `${name}.bsky.social` : name;
  return /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(handle) && handle.length <= 253
    ? { kind: "handle", value: handle }
    : undefined;
}

/**
 * Returns the account with its public profile. Without a profile, which some servers don't know, it is shown by its
 * handle. `request` says where to ask and with which headers.
 */
export async function readAccount(
  { did, handle }: { readonly did: string; readonly handle: string },
  request: Pick<HttpRequest, "headers"> & { readonly origin: string },
  tools: NetworkTools,
): Promise<Account> {
  const { origin, headers = {} } = request;
  const answer = await exchange(tools, {
    method: "GET",
    url: `${origin}/xrpc/app.bsky.actor.getProfile?actor=${encodeURIComponent(did)}`,
    headers,
  });
  const shape = z.object({ displayName: z.string().optional(), avatar: z.url().optional() });
  const profile = shape.safeParse(answer instanceof HttpFailure ? undefined : answer.json()).data;
  return {
    id: did,
    username: handle,
    displayName: profile?.displayName?.trim() || handle,
    avatarUrl: profile?.avatar ?? null,
    url: `https://bsky.app/profile/${did}`,
    kind: "person",
  };
}

/** Returns the limits that the account's server states. */
export async function readLimits(
  pds: string,
  tools: NetworkTools,
): Promise<Record<string, number>> {
  const answer = await exchange(tools, {
    method: "GET",
    url: `${pds}/xrpc/com.atproto.server.describeServer`,
  });
  const shape = z.object({ blobUploadLimit: z.number().int().positive() });
  const parsed = shape.safeParse(answer instanceof HttpFailure ? undefined : answer.json());
  return parsed.success ? { blobBytesMax: parsed.data.blobUploadLimit } : {};
}
