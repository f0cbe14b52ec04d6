import type { HttpRequest } from "../../runtime/http-call.ts";
import type { NetworkTools } from "../contract/network.ts";
import { HttpFailure } from "../../runtime/http-call.ts";

const BYTES_MAX = 256 * 1024;
/** Of the directory and of a domain. */
const DID_DOCUMENT = /\/did(?::|%3A)[^/]+$|\/\.well-known\/did\.json$/i;
const METHODS: readonly string[] = ["GET", "HEAD", "POST", "PUT", "DELETE"];

/** What the library saw on its way, in our words: its own errors do not tell one dead end from another. */
export interface Trace {
  /** The last call that got no answer. */
  failure?: HttpFailure;
  /** A server answered that it can't answer. */
  isDown?: boolean;
  /** A directory said that there is no such account. */
  isUnknown?: boolean;
  /** Of the account that was typed. */
  did?: string;
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/** `fetch` for a library, by way of the one client that dials out: its rules, limits and host map hold here as well. */
export function fetchWith(tools: NetworkTools, trace: Trace): Fetch {
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
