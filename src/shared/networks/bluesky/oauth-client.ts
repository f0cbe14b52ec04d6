import type {
  NodeOAuthClient,
  NodeSavedSession,
  NodeSavedState,
  OAuthClientMetadataInput,
} from "@atproto/oauth-client-node";
import type { NetworkApp } from "../contract/settings.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { clientMetadata, hasDocuments, loopbackMetadata } from "./client-documents.ts";
import { type OAuthSessionData, readOAuthSession } from "./state.ts";
import { dpopNonces } from "./account-call.ts";
import { resolveHandle } from "./identity.ts";
import { type HttpRequest, HttpFailure } from "../../runtime/http-call.ts";

/**
 * The only module that knows the OAuth library. It is loaded with the first call, and lives for one step: what it keeps
 * between steps is handed in and out, because it is stored with everything else that is secret.
 */
export interface Client {
  readonly library: NodeOAuthClient;
  readonly trace: Trace;
  /** What the library wants to find again, by its `state`. */
  readonly states: Map<string, NodeSavedState>;
  /** By DID. */
  readonly sessions: Map<string, NodeSavedSession>;
}

/** Why a step did not lead on. `networkCode` is the server's own word for it. */
export interface OAuthProblem {
  readonly kind: "unknown_account" | "unreachable" | "down" | "refused" | "unusable";
  readonly status: number | null;
  readonly networkCode: string | null;
  readonly note: string;
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
    // Plain http exists on the developer's machine alone, and what may be dialled there is for the settings to say.
    allowHttp: !isPublic,
    stateStore: storeIn(states),
    sessionStore: storeIn(sessions),
    dpopNonceCache: dpopNonces,
    runtimeImplementation: {
      createKey: () => JoseKey.generate(["ES256"]),
      getRandomValues: (length) => randomBytes(length),
      digest: (bytes, { name }) => createHash(name).update(bytes).digest(),
      // The caller that renews holds the connection's lease already.
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

async function didOf(
  handle: string,
  tools: NetworkTools,
  trace: Trace,
): Promise<`did:plc:${string}` | `did:web:${string}` | null> {
  const did = await resolveHandle(handle, tools);
  if (did === undefined) trace.isUnknown = true;
  if (typeof did !== "string") {
    if (did !== undefined) throw new Error(did.note ?? did.code);
    return null;
  }
  trace.did = did;
  return isSupported(did) ? did : null;
}

function isSupported(did: string): did is `did:plc:${string}` | `did:web:${string}` {
  return did.startsWith("did:plc:") || did.startsWith("did:web:");
}

/** Returns the session as it is after a step; undefined if the library discarded it. */
export function sessionIn(client: Client, did: string): OAuthSessionData | undefined {
  return readOAuthSession(client.sessions.get(did));
}

/** Sorts what the library throws. A call without an answer counts as such, whatever the library made of it. */
export function problemOf(error: unknown, trace: Trace): OAuthProblem {
  const chain = causesOf(error);
  const note = chain.map(({ message }) => message).join(": ");
  const answered = chain.map(readAnswer).find((found) => found !== undefined);
  if (answered !== undefined) return { kind: "refused", ...answered, note };
  const empty = { status: null, networkCode: null, note };
  if (trace.failure !== undefined) return { kind: "unreachable", ...empty };
  if (trace.isDown === true) return { kind: "down", ...empty };
  return { kind: trace.isUnknown === true ? "unknown_account" : "unusable", ...empty };
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
 * Returns status and code of the library's error for a refusal by the authorisation server. It is recognised by its
 * fields, because its class is in a module that is loaded lazily.
 */
function readAnswer(error: Error): { status: number; networkCode: string | null } | undefined {
  if (!("payload" in error) || !("status" in error) || typeof error.status !== "number") return;
  const code = "error" in error && typeof error.error === "string" ? error.error : null;
  return { status: error.status, networkCode: code };
}

const BYTES_MAX = 256 * 1024;
/** Addresses of DID documents, in the directory and on a domain. */
const DID_DOCUMENT = /\/did(?::|%3A)[^/]+$|\/\.well-known\/did\.json$/i;
const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "DELETE"];

/** What happened in the library's calls: its own errors do not distinguish the causes. */
export interface Trace {
  /** The last call that got no answer. */
  failure?: HttpFailure;
  /** A server answered that it can't answer. */
  isDown?: boolean;
  /** A directory said that there is no such account. */
  isUnknown?: boolean;
  /** DID of the account that was typed. */
  did?: string;
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** Returns a `fetch` for the library that calls through the outbound client, with its rules, limits and host map. */
function fetchWith(tools: NetworkTools, trace: Trace): Fetch {
  return async (input, init) => {
    const request = new Request(input, init);
    const body = new Uint8Array(await request.arrayBuffer());
    try {
      const answer = await tools.http({
        method: methodOf(request),
        url: request.url,
        headers: Object.fromEntries(request.headers),
        ...(body.byteLength === 0 ? {} : { body }),
        bytesMax: BYTES_MAX,
      });
      const { status, headers } = answer;
      if (status >= 500) trace.isDown = true;
      if (DID_DOCUMENT.test(request.url) && (status === 404 || status === 410))
        trace.isUnknown = true;
      // A redirect has no meaning in this protocol; neither has an answer that a `Response` can't stand for.
      const isBodiless = status === 204 || status === 205 || status === 304;
      return new Response(isBodiless ? null : Buffer.from(answer.body), { status, headers });
    } catch (error) {
      if (error instanceof HttpFailure) trace.failure = error;
      throw error;
    }
  };
}

function methodOf({ method }: Request): HttpRequest["method"] {
  if (!METHODS.includes(method)) throw new Error(`the library wants to call with ${method}`);
  // Safe: looked up in the list of what there is.
  return method as HttpRequest["method"];
}
