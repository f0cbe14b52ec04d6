import {
  HttpFailure,
  type HttpRequest,
  type HttpResponse,
} from "../../../src/shared/runtime/http-call.ts";
import type { Outbound } from "../../../src/shared/runtime/outbound.ts";
import { COMMENTS_HOST } from "./comments.ts";
import { quietly, type Machine, type Nature } from "../machine.ts";

/** What everybody can see: one post of one account. */
export interface Visible {
  readonly host: string;
  readonly id: string;
  readonly text: string;
  readonly at: number;
  /** When it was taken down; undefined while everybody can see it. */
  removedAt?: number;
  /** Times that its content was changed. */
  edits: number;
  readonly content: string;
}

/** One call that a receiver of webhooks got. */
export interface Received {
  readonly webhookId: string;
  readonly at: number;
  readonly body: string;
  /** Whether it was answered with a success, which the sender may not have heard. */
  readonly isTaken: boolean;
}

export const BLUESKY_HOST = "pds.example.com";
/** Answers a repeat under the same key with the first post, for an hour. */
export const KEYS_HOST = "keys.example.com";
/** Knows no idempotency: every call makes a post; lists what there is. */
export const KEYLESS_HOST = "keyless.example.com";
/** Knows no idempotency either, and shows nobody a list. */
export const HIDDEN_HOST = "hidden.example.com";
export const RECEIVER_HOST = "hooks.example.com";

const KEY_LIFE_MS = 60 * 60_000;
/** What a call sets off is done by then, also when nobody hears about it. */
const LATE_MS_MAX = 15_000;
const PAGE_LENGTH = 20;
/** As long as the product waits for a network that says nothing. */
const CALL_MS_MAX = 30_000;

type Answer = Pick<HttpResponse, "status"> & {
  readonly body: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

function toResponse({ status, body, headers = {} }: Answer): HttpResponse {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return {
    status,
    headers: { "content-type": "application/json", ...headers },
    body: Buffer.from(text),
    text: () => text,
    json: () => (typeof body === "string" ? undefined : JSON.parse(text)),
  };
}

/** A call to a receiver that its process waits for. */
interface CallInFlight {
  readonly machine: Machine;
  readonly url: string;
  readonly until: number;
}

/** Longer than an endpoint's lease: who has paused in this time may make calls that it should not. */
const LEASE_MS_MAX = 60_000;

/** Every body that the adapters send here is JSON text. */
const bodyOf = (body: HttpRequest["body"]): unknown =>
  typeof body === "string" ? JSON.parse(body) : {};

const lost = () => new HttpFailure("in_doubt", "timeout");

/** The networks and receivers of a run, small, behind the real adapters' own requests. */
export class NetworkModel {
  readonly #nature: Nature;
  readonly visible: Visible[] = [];
  readonly received: Received[] = [];
  /** Until then every receiver refuses everything. */
  receiversDownUntil = 0;
  /** Calls that were in flight to one endpoint at once, over all processes that did not pause. */
  mostAtOnce = 0;
  readonly #inFlight = new Set<CallInFlight>();
  /** First comments, as `comments.ts` has them. */
  readonly comments: { readonly post: string; readonly text: string }[] = [];
  /** Gets the text of each, when it is written. */
  onComment: (text: string) => void = () => undefined;
  /** Ids of what was to be taken down, one for each call that arrived. */
  readonly deletions: string[] = [];
  readonly #keys = new Map<string, { readonly post: Visible; readonly until: number }>();

  constructor(nature: Nature) {
    this.#nature = nature;
  }

  /** As one process reaches it. */
  open(machine: Machine): Outbound {
    return {
      request: async (request) => {
        const until = this.#nature.time.now + (request.timeoutMs ?? CALL_MS_MAX);
        const call = { machine, url: request.url, until };
        if (new URL(request.url).hostname === RECEIVER_HOST) this.#noteInFlight(call);
        try {
          return await machine.call(() => this.#arrive(request), until);
        } catch (error) {
          throw error instanceof HttpFailure ? error : lost();
        } finally {
          this.#inFlight.delete(call);
        }
      },
      open: () => Promise.reject(new HttpFailure("not_sent", "connect_failed")),
      browserUrl: (url) => url,
      close: () => Promise.resolve(),
    };
  }

  #noteInFlight(call: CallInFlight): void {
    const { now } = this.#nature.time;
    this.#inFlight.add(call);
    const own = [...this.#inFlight].filter(
      ({ machine, url, until }) =>
        url === call.url &&
        until > now &&
        !machine.isDead &&
        !machine.hasStoodStill(now - LEASE_MS_MAX),
    );
    this.mostAtOnce = Math.max(this.mostAtOnce, own.length);
  }

  #arrive(request: HttpRequest): HttpResponse {
    const { random, rates, counts, time } = this.#nature;
    const host = new URL(request.url).hostname;
    const serve = () => toResponse(this.#serve(request));
    if (!random.chance(host === RECEIVER_HOST ? rates.receiver : rates.network)) return serve();
    counts.networkFaults += 1;
    switch (random.pick(["not_sent", "before", "after", "late", "busy", "broken", "refused"])) {
      case "not_sent":
        throw new HttpFailure("not_sent", "connect_failed");
      case "before":
        throw lost();
      case "after":
        serve();
        throw lost();
      case "late":
        time.set(() => quietly(serve), random.below(LATE_MS_MAX));
        throw lost();
      case "busy":
        return toResponse({ status: 429, body: { error: "RateLimitExceeded" } });
      case "broken":
        if (random.chance(0.5)) serve();
        return toResponse({ status: 502, body: "<html>Bad Gateway</html>" });
      default:
        return random.chance(0.2)
          ? toResponse({ status: 422, body: { error: "InvalidRequest", message: "no" } })
          : toResponse({ status: 503, body: { error: "ServiceUnavailable" } });
    }
  }

  #serve(request: HttpRequest): Answer {
    const url = new URL(request.url);
    switch (url.hostname) {
      case BLUESKY_HOST:
        return this.#bluesky(url, request);
      case KEYS_HOST:
      case KEYLESS_HOST:
      case HIDDEN_HOST:
        return this.#mastodon(url, request);
      case RECEIVER_HOST:
        return this.#receive(request);
      case COMMENTS_HOST:
        return this.#comment(url, request);
      default:
        throw new HttpFailure("not_sent", "connect_failed");
    }
  }

  #post(host: string, id: string, text: string, content = text): Visible {
    const post = { host, id, text, content, at: this.#nature.time.now, edits: 0 };
    this.visible.push(post);
    return post;
  }

  #remove(post: Visible | undefined): Answer {
    if (post !== undefined) post.removedAt ??= this.#nature.time.now;
    return { status: 200, body: {} };
  }

  #delete(account: string, id = ""): Answer {
    this.deletions.push(id);
    const own = this.visible.find((one) => one.host === account && one.id === id);
    if (own === undefined || own.removedAt !== undefined)
      return { status: 404, body: { error: "Record not found" } };
    return this.#remove(own);
  }

  #bluesky({ hostname, pathname, searchParams }: URL, { body }: HttpRequest): Answer {
    const sent = bodyOf(body) as { repo?: string; rkey?: string; record?: { text: string } };
    const repo = sent.repo ?? searchParams.get("repo") ?? "";
    const rkey = sent.rkey ?? searchParams.get("rkey") ?? "";
    const uri = `at://${repo}/app.bsky.feed.post/${rkey}`;
    const found = this.visible.find((one) => one.id === uri && one.removedAt === undefined);
    if (pathname.endsWith("deleteRecord")) {
      this.deletions.push(uri);
      return this.#remove(found);
    }
    if (pathname.endsWith("getRecord")) return toRecord(found);
    if (!pathname.endsWith("Record")) return { status: 200, body: {} };
    const content = JSON.stringify(sent.record);
    const text = sent.record?.text ?? "";
    if (found === undefined) this.#post(hostname, uri, text, content);
    else if (found.content !== content) found.edits += 1;
    return { status: 200, body: { uri, cid: "c" } };
  }

  #mastodon(
    { hostname, pathname, searchParams }: URL,
    { method, headers, body }: HttpRequest,
  ): Answer {
    const account = `${hostname}|${headers?.["authorization"] ?? ""}`;
    if (pathname.endsWith("/verify_credentials"))
      return { status: 200, body: { source: { privacy: "public" } } };
    if (method === "GET") return this.#list(account, searchParams.get("max_id"));
    if (method === "DELETE") return this.#delete(account, pathname.split("/").at(-1));
    if (pathname !== "/api/v1/statuses") return { status: 404, body: { error: "not found" } };
    const key = `${account}|${headers?.["idempotency-key"] ?? ""}`;
    const { now } = this.#nature.time;
    const known = this.#keys.get(key);
    if (hostname === KEYS_HOST && known !== undefined && known.until > now)
      return { status: 200, body: toStatus(known.post) };
    const { status } = bodyOf(body) as { readonly status: string };
    const post = this.#post(account, `${this.visible.length + 1}`, status);
    this.#keys.set(key, { post, until: now + KEY_LIFE_MS });
    return { status: 200, body: toStatus(post) };
  }

  #list(account: string, before: string | null): Answer {
    if (account.startsWith(HIDDEN_HOST))
      return { status: 403, body: { error: "This action is outside the authorized scopes" } };
    const own = this.visible
      .filter(({ host, removedAt }) => host === account && removedAt === undefined)
      .toReversed();
    const start = before === null ? 0 : own.findIndex(({ id }) => id === before) + 1;
    return { status: 200, body: own.slice(start, start + PAGE_LENGTH).map(toStatus) };
  }

  #comment({ searchParams }: URL, { method, body }: HttpRequest): Answer {
    const post = searchParams.get("post") ?? "";
    if (method === "POST") {
      const { text } = bodyOf(body) as { readonly text: string };
      this.comments.push({ post, text });
      this.onComment(text);
    }
    const own = this.comments.filter((one) => one.post === post);
    return { status: 200, body: own.map(({ text }) => text) };
  }

  #receive({ headers, body }: HttpRequest): Answer {
    const { random, rates, time } = this.#nature;
    const isDown = time.now < this.receiversDownUntil;
    const isTaken = !isDown && !random.chance(rates.receiver);
    const webhookId = headers?.["webhook-id"] ?? "";
    this.received.push({
      webhookId,
      at: time.now,
      body: typeof body === "string" ? body : "",
      isTaken,
    });
    return { status: isTaken ? 200 : random.pick([302, 404, 500, 503]), body: {} };
  }
}

function toRecord(post: Visible | undefined): Answer {
  return post === undefined
    ? { status: 400, body: { error: "RecordNotFound", message: "Could not locate record" } }
    : { status: 200, body: { uri: post.id, cid: "c", value: {} } };
}

function toStatus({ id, text, at }: Visible) {
  return {
    id,
    url: `https://example.com/@demo/${id}`,
    created_at: new Date(at).toISOString(),
    content: `<p>${text}</p>`,
    spoiler_text: "",
    visibility: "public",
    media_attachments: [],
  };
}
