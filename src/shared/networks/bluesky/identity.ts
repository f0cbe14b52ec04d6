import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { exchange } from "../contract/classified.ts";
import type { HttpResponse } from "../../runtime/http-call.ts";
import type { LinkFailure, NetworkTools } from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { originOf } from "../contract/server-address.ts";

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

/** The DID that a handle stands for, as the server at `origin` knows it; undefined when it knows none. */
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
  if (answer instanceof HttpFailure) return unavailable(answer.message);
  const parsed = z.object({ did: z.string().startsWith("did:") }).safeParse(answer.json());
  if (answer.status === 200 && parsed.success) return parsed.data.did;
  return answer.status >= 400 && answer.status < 500 && answer.status !== 429
    ? undefined
    : unavailable(`resolving the handle was answered with ${answer.status}`);
}

/** Origin of the account's own server, from the DID's public document; undefined when there is no such DID. */
export async function resolveServer(
  did: string,
  tools: NetworkTools,
): Promise<string | LinkFailure | undefined> {
  const url = documentUrl(did);
  if (url === undefined) return undefined;
  const answer = await exchange(tools, { method: "GET", url });
  if (answer instanceof HttpFailure) return unavailable(answer.message);
  if (answer.status === 404 || answer.status === 410) return undefined;
  if (answer.status !== 200)
    return unavailable(`the DID document was answered with ${answer.status}`);
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

function unavailable(note: string): LinkFailure {
  return { kind: "failed", code: "network_unavailable", note };
}
