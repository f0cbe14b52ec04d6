import type {
  NodeOAuthClient,
  NodeSavedSession,
  NodeSavedState,
  OAuthClientMetadataInput,
} from "@atproto/oauth-client-node";
import type { LinkErrorCode } from "../contract/link.ts";
import type { NetworkApp } from "../contract/settings.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { clientMetadata, hasDocuments, loopbackMetadata } from "./client-documents.ts";
import { type OAuthSessionData, readOAuthSession } from "./state.ts";
import { dpopNonces } from "./account-call.ts";
import { LOGIN_HOST, resolveHandle } from "./identity.ts";
import { CLIENT_ERRORS } from "../contract/oauth.ts";
import { isNestedTooDeep } from "../../runtime/json-depth.ts";
import { type HttpRequest, HttpFailure } from "../../runtime/http-call.ts";

/**
 * The only module that uses the OAuth library. The library is loaded with the first call, and lives for one step. What
 * it stores between steps is passed in and out, because it is stored with all other secrets.
 */
export interface Client {
  readonly library: NodeOAuthClient;
  readonly trace: Trace;
  /** The library's own data, by its `state`. */
  readonly states: Map<string, NodeSavedState>;
  /** By DID. */
  readonly sessions: Map<string, NodeSavedSession>;
}

type OAuthErrorCode = Extract<
  LinkErrorCode,
  | "account_not_found"
  | "instance_unreachable"
  | "instance_unsupported"
  | "network_unavailable"
  | "rate_limited"
  | "service_refused"
>;

/** Why a step failed. `networkCode` is the server's own word for it. */
export interface OAuthProblem {
  readonly code: OAuthErrorCode;
  readonly networkCode: string | null;
  readonly note: string;
  /** Whether the server that refused our client is one that anybody may run, so that no operator is called. */
  readonly isUnproven?: true;
}

export async function openClient(
  app: NetworkApp,
  redirectUri: string,
  tools: NetworkTools,
): Promise<Client> {
  const { JoseKey, NodeOAuthClient: Library } = await import("@atproto/oauth-client-node");
  const { createHash, randomBytes } = await import("node:crypto");
  const trace: Trace = {};
  const states = new Map<string, NodeSavedState>();
  const sessions = new Map<string, NodeSavedSession>();
  const isPublic = hasDocuments(app);
  const keys = isPublic
    ? [await JoseKey.fromJWK(JSON.parse(app.secret) as Record<string, unknown>)]
    : [];
  const metadata: OAuthClientMetadataInput = isPublic
    ? clientMetadata(app, tools.service)
    : loopbackMetadata(redirectUri, tools.service);
  const library = new Library({
    clientMetadata: metadata,
    ...(isPublic ? { keyset: keys } : {}),
    fetch: fetchWith(tools, trace),
    handleResolver: { resolve: (handle) => didOf(handle, tools, trace) },
    // Plain http is only used on a developer's machine, and the settings say what may be dialled there.
    allowHttp: !isPublic,
    stateStore: storeIn(states),
    sessionStore: storeIn(sessions),
    dpopNonceCache: dpopNonces,
    runtimeImplementation: {
      createKey: () => JoseKey.generate(["ES256"]),
      getRandomValues: (length) => randomBytes(length),
      digest: (bytes, { name }) => createHash(name).update(bytes).digest(),
      // The caller that renews already holds the connection's lease.
      requestLock: (_name, run) => run(),
    },
  });
  return { library, trace, states, sessions };
}

function storeIn<Value>(map: Map<string, Value>) {
  return {
    get: (key: string) => map.get(key),
    set: (key: string, value: Value): void => void map.set(key, value),
    del: (key: string): void => void map.delete(key),
  };
}

async function didOf(handle: string, tools: NetworkTools, trace: Trace) {
  const did = await resolveHandle(handle, tools);
  if (typeof did === "string") {
    trace.did = did;
    return did;
  }
  if (did.code !== "account_not_found") throw new Error(did.note ?? did.code);
  trace.code = did.code;
  return null;
}

/** Returns the session after a step, or undefined if the library discarded it. */
export function sessionIn(client: Client, did: string): OAuthSessionData | undefined {
  return readOAuthSession(client.sessions.get(did));
}

/** Sorts what the library throws: by the answer that refused a step, else by what the calls behind it came to. */
export function problemOf(error: unknown, trace: Trace): OAuthProblem {
  const chain = causesOf(error);
  const note = chain.map(({ message }) => message).join(": ");
  const answered = chain.map(readAnswer).find((found) => found !== undefined);
  if (answered === undefined)
    return { code: trace.code ?? "instance_unsupported", networkCode: null, note };
  const isForeign = answered.code === "service_refused" && trace.origin !== LOGIN_HOST;
  return { ...answered, note, ...(isForeign ? { isUnproven: true } : {}) };
}

const CAUSES_MAX = 6;

function causesOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  let current = error;
  while (current instanceof Error && chain.length < CAUSES_MAX) {
    chain.push(current);
    current = current.cause;
  }
  return chain;
}

/**
 * Returns what the library's error for a refusal by the authorization server means. It is recognized by its fields,
 * because its class is in a module that is loaded lazily.
 */
function readAnswer(error: Error): Omit<OAuthProblem, "note"> | undefined {
  if (!("payload" in error) || !("status" in error) || typeof error.status !== "number") return;
  const networkCode = "error" in error && typeof error.error === "string" ? error.error : null;
  if (error.status === 429) return { code: "rate_limited", networkCode };
  if (OF_OUR_CLIENT.includes(networkCode ?? "")) return { code: "service_refused", networkCode };
  const code = error.status >= 500 ? "network_unavailable" : "instance_unsupported";
  return { code, networkCode };
}

/**
 * What a server says of our client's documents: it does not accept them, or it could not read them, for one
 * (https://github.com/bluesky-social/atproto/issues/3096).
 */
const OF_OUR_CLIENT: readonly string[] = [
  ...CLIENT_ERRORS,
  "invalid_client_metadata",
  "invalid_redirect_uri",
];

const BYTES_MAX = 256 * 1024;
/** Addresses of DID documents, in the directory and on a domain. */
const DID_DOCUMENT = /\/did(?::|%3A)[^/]+$|\/\.well-known\/did\.json$/i;

/** What happened in the library's calls, because its own errors don't distinguish the causes. */
export interface Trace {
  /** What the last call came to that was of no use. */
  code?: OAuthErrorCode;
  /** DID of the account that was typed. */
  did?: string;
  /** The server that was called last. */
  origin?: string;
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Makes a `fetch` for the library that calls through the outbound client, with its rules, limits and host map. */
function fetchWith(tools: NetworkTools, trace: Trace): Fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const body = new Uint8Array(await request.arrayBuffer());
    trace.origin = new URL(request.url).origin;
    try {
      const answer = await tools.http({
        // Safe: the library calls with the protocol's methods alone.
        method: request.method as HttpRequest["method"],
        url: request.url,
        headers: Object.fromEntries(request.headers),
        ...(body.byteLength === 0 ? {} : { body }),
        bytesMax: BYTES_MAX,
      });
      const { status, headers } = answer;
      if (status >= 500) trace.code = "network_unavailable";
      if (DID_DOCUMENT.test(request.url) && (status === 404 || status === 410))
        trace.code = "account_not_found";
      // A redirect has no meaning in this protocol, and neither has an answer that a `Response` can't represent.
      const isBodiless = status === 204 || status === 205 || status === 304;
      const isLeftOut = isBodiless || isNestedTooDeep(answer.text());
      return new Response(isLeftOut ? null : Buffer.from(answer.body), { status, headers });
    } catch (error) {
      if (error instanceof HttpFailure) trace.code = "instance_unreachable";
      throw error;
    }
  };
}
