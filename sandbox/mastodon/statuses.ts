import { json, Refusal } from "../exchange.ts";
import type { Answer, Exchange } from "../exchange.ts";
import type { Plan } from "../faults.ts";
import { noteRemoval, removalWords } from "../follow-ups.ts";
import { keep } from "../kept-maps.ts";
import type { PublishedPost, Route, Surroundings } from "../network.ts";
import { authorize, findToken, limited, tooManyRequests } from "./access.ts";
import type { Speaker } from "./access.ts";
import { accountEntity, publishedPost, statusEntity } from "./entities.ts";
import { readParameters, stringParameter } from "./parameters.ts";
import { errorAnswer, personalityOf, refusal } from "./personality.ts";
import { LENIENT_HOST, findAccount, nextId } from "./state.ts";
import type { MastodonShared, Media, Status } from "./state.ts";
import { countedLength } from "./counted-length.ts";
import { route } from "../network.ts";

const IDEMPOTENCY_MS = 60 * 60 * 1000;
const POSTS = { name: "statuses", limit: 300, windowMs: 3 * 60 * 60 * 1000 };
const DELETIONS = { name: "deletions", limit: 30, windowMs: 30 * 60 * 1000 };
const VISIBILITY = /^(?:public|unlisted|private|direct)$/;
const WHOLE_LIST = 256;

interface Draft {
  readonly text: string;
  readonly spoilerText: string;
  readonly visibility: string;
  readonly sensitive: boolean;
  readonly language: string;
  readonly media: readonly Media[];
}

export class Statuses {
  readonly #shared: MastodonShared;
  readonly #surroundings: Surroundings;
  /** By host and idempotency key: what servers answered that remember an answer and not a post. */
  readonly #answers = new Map<string, Answer>();

  constructor(shared: MastodonShared, surroundings: Surroundings) {
    this.#shared = shared;
    this.#surroundings = surroundings;
  }

  routes(): Route[] {
    const { windows } = this.#surroundings;
    const get = (path: string, name: string, run: (exchange: Exchange) => Answer): Route =>
      route(`GET ${path}`, name, (exchange) =>
        limited(windows, exchange, undefined, () => run(exchange)),
      );
    return [
      route(
        "POST /api/v1/statuses",
        "statuses",
        (exchange, plan) => limited(windows, exchange, POSTS, () => this.#answer(exchange, plan)),
        { magic: (exchange) => magicOf(exchange) },
      ),
      route(
        "DELETE /api/v1/statuses/{id}",
        "remove",
        (exchange) => limited(windows, exchange, DELETIONS, () => this.#remove(exchange)),
        {
          magic: ({ params }) =>
            removalWords(this.#shared.state.statuses.get(params["id"] ?? "")?.text ?? ""),
        },
      ),
      get("/api/v1/statuses/{id}", "status", (exchange) => this.#get(exchange)),
      get("/api/v1/accounts/verify_credentials", "verifyCredentials", (exchange) =>
        this.#verifyCredentials(exchange),
      ),
      get("/api/v1/accounts/{id}/statuses", "accountStatuses", (exchange) => this.#list(exchange)),
    ];
  }

  posts(): PublishedPost[] {
    return [...this.#shared.state.statuses.values()].map((status) =>
      publishedPost(this.#shared, status),
    );
  }

  #verifyCredentials(exchange: Exchange): Answer {
    const { account } = authorize(this.#shared, exchange, ["read", "read:accounts", "profile"]);
    return json(200, {
      ...accountEntity(account),
      source: { privacy: "public", sensitive: false, language: "", note: "", fields: [] },
    });
  }

  /** Makes a post, or answers as the server does to a key that it has seen. */
  #answer(exchange: Exchange, plan: Plan): Answer {
    const { host, headers } = exchange;
    const { keys } = personalityOf(host);
    const given = headers["idempotency-key"];
    if (given === undefined || keys === "post" || keys === "none")
      return this.#create(exchange, plan);
    const key = `${host} ${String(given)}`;
    const first = this.#answers.get(key);
    if (first !== undefined) {
      if (keys === "replay" || (keys === "stuck" && first.status === 200)) return first;
      return keys === "stuck"
        ? errorAnswer(host, 408, "Failed to resolve idempotency key note within 1000 ms")
        : errorAnswer(host, 400, "Duplicate idempotency key.");
    }
    const answer = answerOf(() => this.#create(exchange, plan));
    this.#answers.set(key, answer);
    return answer;
  }

  #create(exchange: Exchange, plan: Plan): Answer {
    const { host } = exchange;
    const { strict } = personalityOf(host);
    const speaker = authorize(this.#shared, exchange, ["write", "write:statuses"]);
    const parameters = readParameters(exchange);
    const key = exchange.headers["idempotency-key"];
    const idempotencyKey = typeof key === "string" && key !== "" ? key : null;
    const known = strict ? this.#published(speaker, idempotencyKey) : undefined;
    if (known !== undefined) return json(200, statusEntity(this.#shared, known));
    const draft = this.#draft(exchange, speaker, parameters);
    if (strict) this.#checkReady(host, draft.media, plan);
    const status = this.#publish(speaker, draft, idempotencyKey);
    return json(200, statusEntity(this.#shared, status));
  }

  #publish({ account, token }: Speaker, draft: Draft, idempotencyKey: string | null): Status {
    const { state } = this.#shared;
    const createdAt = this.#shared.now();
    const { media, ...content } = draft;
    const status: Status = {
      ...content,
      id: nextId(this.#shared),
      host: account.host,
      accountId: account.id,
      clientId: token.clientId,
      mediaIds: media.map(({ id }) => id),
      createdAt,
      idempotencyKey,
    };
    keep(state.statuses, status.id, status);
    for (const file of media) file.statusId = status.id;
    if (idempotencyKey !== null)
      keep(state.idempotency, `${account.host} ${account.id} ${idempotencyKey}`, {
        statusId: status.id,
        until: createdAt + IDEMPOTENCY_MS,
      });
    return status;
  }

  #published({ account }: Speaker, key: string | null): Status | undefined {
    const { state } = this.#shared;
    const known = state.idempotency.get(`${account.host} ${account.id} ${key}`);
    if (known === undefined || known.until <= this.#shared.now()) return undefined;
    const status = state.statuses.get(known.statusId);
    // `idempotency_duplicate` in app/services/post_status_service.rb of mastodon/mastodon finds the status by its id.
    if (status === undefined) throw refusal(account.host, 404, "Record not found");
    return status;
  }

  #draft(exchange: Exchange, speaker: Speaker, parameters: Record<string, unknown>): Draft {
    const { host } = exchange;
    const { charactersMax, needsMedia } = personalityOf(host);
    const invalid = (message: string) => refusal(host, 422, message);
    const media = this.#media(host, speaker, parameters["media_ids"]);
    const status = stringParameter(parameters, "status") ?? "";
    const spoiler = stringParameter(parameters, "spoiler_text") ?? "";
    // A content warning without anything to hide is the text itself.
    const text = status.trim() === "" ? spoiler : status;
    const spoilerText = status.trim() === "" ? "" : spoiler;
    if (needsMedia && media.length === 0)
      throw refusal(host, 403, "Empty statuses are not allowed");
    if (text.trim() === "" && media.length === 0)
      throw invalid("Validation failed: Text can't be blank");
    const length = lengthAt(host, text, spoilerText);
    if (length > charactersMax && host === LENIENT_HOST)
      throw refusal(host, 400, tooLongForGoToSocial(length, charactersMax));
    if (length > charactersMax)
      throw invalid(`Validation failed: Text character limit of ${charactersMax} exceeded`);
    return { text, spoilerText, media, ...settings(host, parameters, spoilerText) };
  }

  #media(host: string, { account }: Speaker, given: unknown): Media[] {
    const { strict, mediaMax, errors } = personalityOf(host);
    const ids = Array.isArray(given) ? given.map(String) : [];
    const found = ids.map((id) => ({ id, media: this.#shared.state.media.get(id) }));
    const usable = found.flatMap(({ media }) =>
      media?.host === host && media.accountId === account.id && media.statusId === null
        ? [media]
        : [],
    );
    if (!strict && errors !== "pleroma") return usable.slice(0, mediaMax);
    if ((strict ? ids : usable).length > mediaMax)
      throw refusal(host, 422, `Cannot attach more than ${mediaMax} files`);
    if (!strict) return usable;
    const missing = ids.filter((id) => !usable.some((media) => media.id === id));
    if (missing.length > 0)
      throw refusal(
        host,
        422,
        `Media ${missing.join(", ")} not found or already attached to another post`,
      );
    if (usable.length > 1 && usable.some(({ type }) => type === "video"))
      throw refusal(host, 422, "Cannot attach a video to a post that already contains images");
    return usable;
  }

  /** `[processing:N]` in the text of a post makes its files wait, once. */
  #checkReady(host: string, media: readonly Media[], plan: Plan): void {
    for (const file of media) {
      if (plan.processing === undefined || file.delayed) continue;
      file.delayed = true;
      file.pollsLeft = plan.processing;
    }
    if (media.some(({ pollsLeft, failed }) => pollsLeft > 0 || failed))
      throw refusal(
        host,
        422,
        "Cannot attach files that have not finished processing. Try again in a moment!",
      );
  }

  /** Finds the speaker's own statuses alone. The key of one that is gone still points at it. */
  #remove(exchange: Exchange): Answer {
    const { host, params, query } = exchange;
    const { account } = authorize(this.#shared, exchange, ["write", "write:statuses"]);
    const { state } = this.#shared;
    const status = state.statuses.get(params["id"] ?? "");
    if (status?.host !== host || status.accountId !== account.id)
      throw refusal(host, 404, "Record not found");
    this.#checkDeletions(host, account.id);
    noteRemoval(state, publishedPost(this.#shared, status), this.#shared.now());
    state.statuses.delete(status.id);
    if (query.get("delete_media") === "true")
      for (const id of status.mediaIds) state.media.delete(id);
    return json(200, { ...statusEntity(this.#shared, status), text: status.text });
  }

  /** Unlike the other limits this one is met in practice. */
  #checkDeletions(host: string, accountId: string): void {
    const { limit, windowMs } = DELETIONS;
    const since = this.#shared.now() - windowMs;
    const lately = [...this.#shared.state.removed.values()]
      .filter((post) => post.host === host && post.account.id === accountId)
      .map(({ removedAt = "" }) => Date.parse(removedAt))
      .filter((removedAt) => removedAt > since);
    if (lately.length < limit) return;
    const resetAt = Math.min(...lately) + windowMs;
    throw new Refusal(tooManyRequests(host, { limit, remaining: 0, resetAt, windowMs }));
  }

  #get(exchange: Exchange): Answer {
    const status = this.#shared.state.statuses.get(exchange.params["id"] ?? "");
    if (status?.host !== exchange.host || !this.#mayRead(exchange, status))
      throw refusal(exchange.host, 404, "Record not found");
    return json(200, statusEntity(this.#shared, status));
  }

  #mayRead(exchange: Exchange, status: Status): boolean {
    if (["public", "unlisted"].includes(status.visibility)) return true;
    const token = findToken(this.#shared, exchange);
    const { showsOwn } = personalityOf(exchange.host);
    return (
      token?.accountId === status.accountId &&
      !token.revoked &&
      showsOwn(status.visibility, token.scopes)
    );
  }

  #list(exchange: Exchange): Answer {
    const { host, params, query } = exchange;
    const account = findAccount(this.#shared.state, host, params["id"] ?? "");
    if (account === undefined) throw refusal(host, 404, "Record not found");
    const { limit, before, after } = rangeOf(host, query);
    const found = [...this.#shared.state.statuses.values()]
      .filter((status) => status.host === host && status.accountId === account.id)
      .filter(({ id }) => (before === 0n || BigInt(id) < before) && BigInt(id) > after)
      .filter((status) => this.#mayRead(exchange, status))
      .toReversed()
      .slice(0, limit);
    return json(
      200,
      found.map((status) => statusEntity(this.#shared, status)),
    );
  }
}

/** `validateStatusContent` in `internal/processing/status/create.go` of GoToSocial. */
const tooLongForGoToSocial = (length: number, limit: number): string =>
  `Bad Request: status too long, ${length} characters provided but limit is ${limit}`;

/** What the server counts of a post. */
function lengthAt(host: string, text: string, spoilerText: string): number {
  const whole = text + spoilerText;
  switch (personalityOf(host).counts) {
    case "links":
      return countedLength(text, spoilerText);
    case "letters":
      return [...new Intl.Segmenter().segment(whole.trim())].length;
    case "codePoints":
      return Array.from(whole).length;
  }
}

function answerOf(run: () => Answer): Answer {
  try {
    return run();
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error;
  }
}

function rangeOf(host: string, query: URLSearchParams) {
  if (personalityOf(host).isSmall) return { limit: WHOLE_LIST, before: 0n, after: 0n };
  const idOf = (name: string) => BigInt(/^\d+$/.exec(query.get(name) ?? "")?.[0] ?? "0");
  const limit = Math.min(Math.max(Number(query.get("limit") ?? 20) || 20, 1), 40);
  return { limit, before: idOf("max_id"), after: idOf("since_id") };
}

function settings(
  host: string,
  parameters: Readonly<Record<string, unknown>>,
  spoilerText: string,
): Pick<Draft, "visibility" | "sensitive" | "language"> {
  const visibility = stringParameter(parameters, "visibility") ?? "public";
  const isKnown = visibility !== "direct" || personalityOf(host).hasDirect;
  if (!isKnown || !VISIBILITY.test(visibility))
    throw refusal(host, 422, `'${visibility}' is not a valid visibility`);
  const { sensitive } = parameters;
  return {
    visibility,
    sensitive: sensitive === true || sensitive === "true" || spoilerText !== "",
    language: stringParameter(parameters, "language") ?? "en",
  };
}

function magicOf(exchange: Exchange): { text: string; key: string } {
  const parameters = readParameters(exchange);
  const texts = [
    stringParameter(parameters, "status"),
    stringParameter(parameters, "spoiler_text"),
  ];
  const key = exchange.headers["idempotency-key"];
  return { text: texts.join("\n"), key: typeof key === "string" ? key : "" };
}
