import { json } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Route, Surroundings } from "../network.ts";
import { removalWords } from "../follow-ups.ts";
import type { Blobs } from "./blobs.ts";
import { isTid, recordContentId, tid } from "./content-id.ts";
import { checkPostRecord } from "./post-record.ts";
import type { Sessions } from "./sessions.ts";
import { RecordProblem } from "./shape.ts";
import { findAccount } from "./state.ts";
import type { Account, BlueskyShared, StoredRecord } from "./state.ts";
import {
  invalidRequest,
  rateLimitHeaders,
  requiredParameter,
  requiredString,
  xrpcError,
  xrpcInput,
} from "./xrpc.ts";
import { route } from "../network.ts";

export const POST_COLLECTION = "app.bsky.feed.post";
const RECORDS_MAX = 50_000;
const POINTS_PER_HOUR = 5000;
const NSID = /^[a-z][a-z0-9-]*(\.[a-z0-9-]+)+\.[a-zA-Z][a-zA-Z0-9]*$/;

interface Write {
  readonly account: Account;
  readonly collection: string;
  readonly rkey: string;
  readonly uri: string;
  readonly value: Record<string, unknown>;
  readonly input: Record<string, unknown>;
}

export class Repository {
  readonly #shared: BlueskyShared;
  readonly #surroundings: Surroundings;
  readonly #sessions: Sessions;
  readonly #blobs: Blobs;
  #lastMicroseconds = 0n;
  /** Called with the address of a record that is about to be deleted. */
  onDelete: (uri: string) => void = () => undefined;

  constructor(shared: BlueskyShared, surroundings: Surroundings, sessions: Sessions, blobs: Blobs) {
    this.#shared = shared;
    this.#surroundings = surroundings;
    this.#sessions = sessions;
    this.#blobs = blobs;
  }

  routes(): Route[] {
    const path = (method: string) => `/xrpc/com.atproto.repo.${method}`;
    const magic = (exchange: Exchange) => magicOf(exchange);
    return [
      route(`POST ${path("putRecord")}`, "putRecord", (exchange) => this.#put(exchange), { magic }),
      route(`POST ${path("deleteRecord")}`, "deleteRecord", (exchange) => this.#delete(exchange), {
        magic: (exchange) => {
          const { repo, collection, rkey } = xrpcInput(exchange);
          const { records } = this.#shared.state;
          const uri = [repo, collection, rkey].map(String).join("/");
          const text = records.get(`at://${uri}`)?.value["text"];
          return removalWords(typeof text === "string" ? text : "");
        },
      }),
      route(`GET ${path("getRecord")}`, "getRecord", (exchange) => this.#get(exchange)),
    ];
  }

  #nextTid(): string {
    const now = BigInt(this.#surroundings.now()) * 1000n;
    this.#lastMicroseconds = now > this.#lastMicroseconds ? now : this.#lastMicroseconds + 1n;
    return tid(this.#lastMicroseconds, 1);
  }

  async #put(exchange: Exchange): Promise<Answer> {
    const account = await this.#sessions.authorize(exchange, "repo");
    const input = xrpcInput(exchange);
    const write = this.#prepare(account, input, requiredString(input, "rkey"));
    const current = this.#shared.state.records.get(write.uri);
    const cid = this.#checked(write);
    // Before any swap check, as on the reference server: a repeat of the same content is always answered.
    if (current?.cid === cid) return this.#written(write, cid);
    const { swapRecord } = input;
    if (swapRecord === null && current !== undefined)
      throw xrpcError(400, "InvalidSwap", `Record was at ${current.cid}`);
    if (typeof swapRecord === "string" && current?.cid !== swapRecord)
      throw xrpcError(400, "InvalidSwap", `Record was at ${current?.cid ?? "null"}`);
    return this.#store(write, cid, current === undefined ? 3 : 2);
  }

  #prepare(account: Account, input: Record<string, unknown>, rkey: string): Write {
    const repo = requiredString(input, "repo");
    const collection = requiredString(input, "collection");
    const { record } = input;
    if (typeof record !== "object" || record === null || Array.isArray(record))
      throw invalidRequest("Expected object value type at $.record");
    if (!NSID.test(collection)) throw invalidRequest("Invalid NSID at $.collection");
    if (findAccount(this.#shared.state, repo)?.did !== account.did)
      throw xrpcError(401, "AuthenticationRequired", "Authentication Required");
    const keyIsValid =
      collection === POST_COLLECTION ? isTid(rkey) : /^[A-Za-z0-9._:~-]{1,512}$/.test(rkey);
    if (!keyIsValid)
      throw invalidRequest(`Invalid record key for ${collection}: ${rkey.slice(0, 100)}`);
    const value: Record<string, unknown> = { $type: collection, ...record };
    if (value["$type"] !== collection)
      throw invalidRequest(`Invalid $type: expected ${collection}, got ${String(value["$type"])}`);
    return {
      account,
      collection,
      rkey,
      uri: `at://${account.did}/${collection}/${rkey}`,
      value,
      input,
    };
  }

  /** Validates the record and answers its CID. */
  #checked(write: Write): string {
    try {
      if (write.collection === POST_COLLECTION && write.input["validate"] !== false)
        checkPostRecord(write.value);
      return recordContentId(write.value);
    } catch (error) {
      if (error instanceof RecordProblem)
        throw invalidRequest(`Invalid ${write.collection} record: ${error.message}`);
      throw error;
    }
  }

  #store(write: Write, cid: string, points: number): Answer {
    const { records } = this.#shared.state;
    const { account, uri, collection, rkey, value } = write;
    const { windows } = this.#surroundings;
    this.#blobs.check(account.did, value);
    const hour = windows.take(`bluesky hour ${account.did}`, POINTS_PER_HOUR, 3_600_000, points);
    this.#blobs.keep(account.did, value);
    const current = records.get(uri);
    const [oldest] = records.keys();
    if (oldest !== undefined && records.size >= RECORDS_MAX) records.delete(oldest);
    if (current === undefined) {
      const publishedAt = this.#surroundings.now();
      records.set(uri, { did: account.did, collection, rkey, cid, value, publishedAt, edits: 0 });
    } else {
      current.value = value;
      current.cid = cid;
      current.edits += 1;
    }
    const rev = this.#nextTid();
    const commit = { cid: recordContentId({ data: { $link: cid }, did: account.did, rev }), rev };
    return this.#written(write, cid, commit, rateLimitHeaders(hour));
  }

  #written(
    write: Write,
    cid: string,
    commit?: { readonly cid: string; readonly rev: string },
    headers?: Readonly<Record<string, string>>,
  ): Answer {
    const known = write.collection === POST_COLLECTION && write.input["validate"] !== false;
    const validationStatus = known ? "valid" : "unknown";
    return json(200, { uri: write.uri, cid, commit, validationStatus }, headers);
  }

  async #delete(exchange: Exchange): Promise<Answer> {
    const input = xrpcInput(exchange);
    const need = `repo:${requiredString(input, "collection")}?action=delete` as const;
    const account = await this.#sessions.authorize(exchange, need);
    if (findAccount(this.#shared.state, requiredString(input, "repo"))?.did !== account.did)
      throw xrpcError(401, "AuthenticationRequired", "Authentication Required");
    const uri = `at://${account.did}/${requiredString(input, "collection")}/${requiredString(input, "rkey")}`;
    this.onDelete(uri);
    this.#shared.state.records.delete(uri);
    return json(200, {});
  }

  #get(exchange: Exchange): Answer {
    const repo = requiredParameter(exchange, "repo");
    const collection = requiredParameter(exchange, "collection");
    const rkey = requiredParameter(exchange, "rkey");
    const account = findAccount(this.#shared.state, repo);
    if (account === undefined) throw invalidRequest(`Could not find repo: ${repo}`);
    const uri = `at://${account.did}/${collection}/${rkey}`;
    const record = this.#shared.state.records.get(uri);
    if (record === undefined)
      throw xrpcError(400, "RecordNotFound", `Could not locate record: ${uri}`);
    return json(200, { uri, cid: record.cid, value: record.value });
  }
}

export function uriOf(record: StoredRecord): string {
  return `at://${record.did}/${record.collection}/${record.rkey}`;
}

/** The attempts at a post are told from others by its text alone: each may come under a key of its own. */
function magicOf(exchange: Exchange): { text: string; key: string } | undefined {
  try {
    const input = xrpcInput(exchange);
    const record = input["record"];
    const text: unknown =
      typeof record === "object" && record !== null ? Reflect.get(record, "text") : undefined;
    return typeof text === "string" ? { text, key: "" } : undefined;
  } catch {
    return undefined;
  }
}
