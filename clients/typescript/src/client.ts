import createFetchClient, { type Client as FetchClient } from "openapi-fetch";
import { isRelayError, RelayTimeoutError } from "./errors.ts";
import { exchange, HEADERS, isBrowser, pause, type Reading } from "./exchange.ts";
import { RelayList, type Page } from "./list.ts";
import { OPERATIONS } from "./made/operations.ts";
import type { CallOptions, Calls, OperationId, Post, Schemas, UploadOptions } from "./types.ts";
import { isLasting, persist, putBytes } from "./upload.ts";
import { toHex } from "./webhook.ts";

export interface RelayOptions {
  /** The relay's address, as far as `/v1`: `https://relay.example.com/api`. */
  readonly baseUrl: string | undefined;
  /** An API key. For servers only. */
  readonly key?: string | undefined;
  /** The token of a session; also that of an operator. */
  readonly session?: string | undefined;
  /** The profile of calls that name none. */
  readonly profileId?: string | undefined;
  /** Limit of a call that has none of its own; 30 seconds unless given. */
  readonly timeoutMs?: number | undefined;
}

export interface WaitOptions extends CallOptions {
  readonly profileId?: string;
  readonly applicationId?: string;
  readonly profileGrant?: string;
}

const TIMEOUT_MS = 30_000;
const WAIT_MS = 120_000;
/** How long an upload address is valid. */
const UPLOAD_MS = 30 * 60_000;
const FIRST_POLL_MS = 1_000;
const POLL_MS_MAX = 5_000;

type Fields = Record<string, unknown>;

// Safe: the methods are added below, one for each operation.
const Methods = Object as unknown as new () => Calls;

/** A relay and one caller of it. Has a method for each operation of the API. */
export class RelayClient extends Methods {
  /** @internal */
  static override readonly name = "RelayClient";
  readonly #options: RelayOptions;
  readonly #http: FetchClient<Record<string, Record<"get", object>>>;

  /** @throws TypeError for options that no call can work with, and for an API key in a browser, where all could read it */
  constructor(options: RelayOptions) {
    super();
    // JavaScript may give none.
    const { baseUrl, key, session } = Object(options) as RelayOptions;
    const address = baseUrl?.trim().replace(/\/+$/, "") ?? "";
    if (!/^https?:\/\/[^?#]+$/.test(address) || !URL.canParse(address) || address.endsWith("/v1"))
      throw new TypeError(
        `baseUrl should be the relay's address as far as /v1, such as https://relay.example.com/api, and not ${baseUrl}.`,
      );
    const credential = (key ?? session)?.trim();
    // What is sent as a header, and is not one, would be in the error's message.
    if (credential !== undefined && !/^[\w.~+/-]+=*$/.test(credential))
      throw new TypeError("The key or session is empty, or has characters that none has.");
    if (credential?.startsWith("sk_") === true && isBrowser())
      throw new TypeError(
        "An API key must not be in a browser. Use a session, or call your server.",
      );
    this.#options = options;
    this.#http = createFetchClient({
      baseUrl: address,
      ...(credential === undefined ? {} : { headers: { authorization: `Bearer ${credential}` } }),
    });
  }

  /**
   * Waits until a post has ended: succeeded, partial, failed or canceled. A webhook is better where there is a server.
   * @throws RelayTimeoutError when it has not ended within `timeoutMs`, 2 minutes unless given
   */
  async waitForPost(
    postId: string,
    { signal, timeoutMs = WAIT_MS, ...fields }: WaitOptions = {},
  ): Promise<Post> {
    const deadline = performance.now() + timeoutMs;
    let post: Post | undefined;
    let failure: unknown;
    for (let waitMs = FIRST_POLL_MS; ; waitMs = Math.min(waitMs * 1.5, POLL_MS_MAX)) {
      const leftMs = deadline - performance.now();
      const limitMs = Math.min(this.#options.timeoutMs ?? TIMEOUT_MS, leftMs);
      try {
        const options = { timeoutMs: limitMs, signal };
        post = await this.getPost({ postId, ...fields }, options);
        if (post.status !== "scheduled" && post.status !== "processing") return post;
      } catch (error) {
        if (isLasting(error)) throw error;
        failure = error;
      }
      if (performance.now() + waitMs >= deadline)
        throw new RelayTimeoutError(`${postId} has not ended in ${timeoutMs} ms.`, post, failure);
      await pause(waitMs, signal);
      signal?.throwIfAborted();
    }
  }

  /**
   * Uploads a file, and waits until the relay has read it. Posts use the `url` of what it returns. Bytes whose upload
   * broke off are sent again. In Node, `fs.openAsBlob` opens a file without reading it into memory.
   * @throws RelayError `media_rejected` when the bytes are not what they should be
   */
  async uploadFile(
    file: Blob,
    { contentType, filename, onProgress, ...options }: UploadOptions = {},
  ): Promise<Schemas["File"]> {
    if (!(file instanceof Blob))
      throw new TypeError(
        "uploadFile needs a Blob, such as fs.openAsBlob(path) or new Blob([bytes]).",
      );
    const { signal: given, timeoutMs = UPLOAD_MS, ...fields } = options;
    const limit = AbortSignal.timeout(timeoutMs);
    const signal = given === undefined ? limit : AbortSignal.any([given, limit]);
    const name = filename ?? (file as Partial<File>).name;
    // Systems without a program for HEIC tell pages no type.
    const isHeic = file.type === "" && /\.hei[cf]$/i.test(name ?? "");
    const type = contentType ?? (isHeic ? "image/heic" : file.type);
    const announced = {
      // Safe: the relay says which types it accepts. A blob's may have parameters.
      contentType: type.split(";", 1)[0] as Schemas["CreateMediaRequest"]["contentType"],
      bytes: file.size,
      ...(name === undefined ? {} : { filename: name }),
    };
    const { id, upload } = await this.createMedia({ ...fields, ...announced }, { signal });
    let failure: unknown;
    if (upload !== null)
      await putBytes(file, upload, onProgress, signal).catch((error: unknown) => {
        failure = error;
      });
    signal.throwIfAborted();
    const complete = () => this.completeMedia({ mediaId: id, ...fields }, { signal });
    return await persist(complete, isLasting, signal).catch((error: unknown) => {
      // The bytes have not arrived, and this is why.
      throw isRelayError(error, "invalid_state") ? (failure ?? error) : error;
    });
  }

  #call(id: OperationId, input: Fields, options: CallOptions): unknown {
    const reading = OPERATIONS[id].split(" ")[4];
    if (reading !== "list") return this.#send(id, input, options);
    return new RelayList(
      (cursor) =>
        // Safe: the list's answer is read as one.
        this.#send(id, cursor === undefined ? input : { ...input, cursor }, options) as Promise<
          Page<unknown>
        >,
    );
  }

  async #send(id: OperationId, input: Fields, options: CallOptions): Promise<unknown> {
    if (Object(input) !== input) throw new TypeError(`${id} takes its fields as one object.`);
    const { signal, timeoutMs, ...others } = options;
    const [other] = Object.keys(others);
    if (other !== undefined) throw new TypeError(`${id} has no option ${other}.`);
    if (signal !== undefined && !("aborted" in signal))
      throw new TypeError("signal should be an AbortSignal, such as controller.signal.");
    const [method = "", address = "", headerFields = "", bodyWord, reading = "data"] =
      OPERATIONS[id].split(" ");
    const [path = "", queryFields = ""] = address.split("?");
    const rest = { ...input };
    const take = (name: string) => {
      const value = rest[name];
      delete rest[name];
      return value;
    };
    const defaults: Fields = { profileId: this.#options.profileId, idempotencyKey: newKey() };
    const inPath: Fields = {};
    for (const [, name = ""] of path.matchAll(/\{(\w+)\}/g)) {
      const value = take(name) ?? defaults[name];
      // Otherwise the address would be another operation's.
      if (typeof value !== "string" || /^\.{0,2}$/.test(value))
        throw new TypeError(`${id} needs ${name}.`);
      inPath[name] = value;
    }
    // The client's profile is no filter of a list.
    const query = Object.fromEntries(queryFields.split("&").map((name) => [name, take(name)]));
    const headers: Record<string, string> = {};
    for (const [name, header] of Object.entries(HEADERS)) {
      if (!headerFields.split("&").includes(name)) continue;
      const value = take(name) ?? defaults[name];
      if (typeof value === "string") headers[header] = value;
    }
    const hasBody = bodyWord === "body";
    const [unknown] = hasBody ? [] : Object.keys(rest);
    if (unknown !== undefined) throw new TypeError(`${id} has no field ${unknown}.`);
    const idempotencyKey = headers["Idempotency-Key"];
    const isPlain = method !== "POST" && (rest["expectedUpdatedAt"] ?? null) === null;
    let answer: unknown;
    // Safe: openapi-fetch only makes the request, and any operation's is made in the same way.
    await this.#http.request(method.toLowerCase() as "get", path as never, {
      params: { path: inPath, query },
      headers,
      ...(hasBody ? { body: rest as never } : {}),
      // A POST that followed would become a GET, and any request would lose its credential. Bytes are in storage.
      redirect: reading === "bytes" ? "follow" : "manual",
      // What openapi-fetch would read of an answer has no limit, so that the answer is read here.
      fetch: async (request) => {
        answer = await exchange(request, {
          reading: reading as Reading,
          isRepeatable: isPlain || idempotencyKey !== undefined,
          timeoutMs: timeoutMs ?? this.#options.timeoutMs ?? TIMEOUT_MS,
          signal,
          idempotencyKey,
        });
        return new Response(null, { status: 204 });
      },
    });
    return answer;
  }

  static {
    for (const id of Object.keys(OPERATIONS) as OperationId[])
      Object.defineProperty(this.prototype, id, {
        value(this: RelayClient, input: Fields = {}, options: CallOptions = {}) {
          return this.#call(id, input, options);
        },
      });
  }
}

const newKey = () => toHex(crypto.getRandomValues(new Uint8Array(16)));
