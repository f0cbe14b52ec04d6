import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as wait } from "node:timers/promises";
import { Refusal, htmlPage, json } from "./exchange.ts";
import type { Answer, Exchange } from "./exchange.ts";
import { NO_FAULTS, REFUSAL_CODES, UNPROVEN } from "./faults.ts";
import type { FaultBook, Plan } from "./faults.ts";
import { findPublicAnswer } from "./public-answers.ts";
import { postPage } from "./front-page.ts";
import type { PublishedPost, SandboxNetwork, Site } from "./network.ts";
import { redactedPath } from "./request-log.ts";
import type { RequestLog } from "./request-log.ts";
import { decoded, isNetwork, matchBrowser, matchRoute, siteOf } from "./router.ts";
import type { Match } from "./router.ts";

const BODY_MAX = 1024 * 1024;
/** How much of a body that is too large is still read, so that the sender gets to hear the answer. */
const DISCARDED_MAX = 64 * 1024 * 1024;
const HANG_MS_MAX = 5 * 60 * 1000;
const BAD_GATEWAY =
  "<html><head><title>502 Bad Gateway</title></head><body><center><h1>502 Bad Gateway</h1></center><hr><center>nginx</center></body></html>";

export interface Served {
  readonly own: Site;
  readonly sites: readonly Site[];
  readonly faults: FaultBook;
  readonly log: RequestLog;
  now(): number;
  posts(): readonly PublishedPost[];
  /** Called after every request, before its answer: a GET may change something too, a poll of media for one. */
  changed(network: SandboxNetwork | undefined, method: string): void;
}

/** What becomes of a request: an answer, or a connection that is cut or left alone. */
type Fate =
  | { readonly kind: "answer"; readonly answer: Answer; readonly note: string | null }
  | { readonly kind: "drop" | "hang"; readonly note: string };

function hostOf(header: string): string {
  return header.toLowerCase().replace(/:\d+$/, "");
}

/** Where the request wants to go. Only a browser comes to the sandbox's own address. */
function arrival(request: IncomingMessage): Omit<Exchange, "body" | "params"> {
  const forwarded = request.headers["x-forwarded-host"];
  const host = hostOf(typeof forwarded === "string" ? forwarded : (request.headers.host ?? ""));
  const [path = "/", query = ""] = (request.url ?? "/").split(/\?(.*)/s);
  return {
    method: request.method ?? "GET",
    host,
    direct: forwarded === undefined && ["127.0.0.1", "localhost", "[::1]"].includes(host),
    path,
    query: new URLSearchParams(query),
    headers: request.headers,
  };
}

async function readBody(request: IncomingMessage, max: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length <= max) chunks.push(chunk);
    else if (length > max + DISCARDED_MAX) break;
  }
  return length > max ? undefined : Buffer.concat(chunks);
}

function publicPage(served: Served, exchange: Exchange): Answer | undefined {
  if (exchange.method !== "GET") return undefined;
  const path = decoded(exchange.path);
  const post = served.posts().find(({ page, url }) => {
    if (exchange.direct) return page === path;
    const address = new URL(url);
    return address.hostname === exchange.host && decoded(address.pathname) === path;
  });
  return post === undefined ? undefined : htmlPage(200, postPage(post));
}

function answerFate(answer: Answer, note: string | null = null): Fate {
  return { kind: "answer", answer, note };
}

async function run(match: Match, exchange: Exchange, plan: Plan): Promise<Answer> {
  try {
    return await match.route.run(exchange, plan);
  } catch (error) {
    if (error instanceof Refusal) return error.answer;
    throw error;
  }
}

/** Walks one call to a network through what the plan has in store for it. */
async function suffer(
  network: SandboxNetwork,
  match: Match,
  exchange: Exchange,
  plan: Plan,
): Promise<Fate> {
  if (plan.delayMs > 0) await wait(plan.delayMs, undefined, { ref: false });
  if (plan.before === "drop") return { kind: "drop", note: "cut before the effect" };
  if (plan.before === "html") return answerFate(htmlPage(502, BAD_GATEWAY), "before the effect");
  const { failure, given } = plan;
  if (given?.isAfter === false) return answerFate(given, "a given answer");
  if (failure !== undefined && match.route.playsFailures?.includes(failure) !== true)
    return answerFate(network.failure(failure, exchange), `played ${failure}`);
  const effect = () => run(match, exchange, plan);
  const known = findPublicAnswer(network.name, plan.answer ?? "");
  const account = network.accountOf(exchange);
  const answer =
    known === undefined ? await effect() : await known.play({ exchange, account, effect });
  if (plan.after === "drop") return { kind: "drop", note: "cut after the effect" };
  if (plan.after === "hang") return { kind: "hang", note: "never answered, after the effect" };
  if (plan.after === "html") return answerFate(htmlPage(502, BAD_GATEWAY), "after the effect");
  if (plan.refusalAfter !== undefined) {
    // What proves that a post was not made can't be said of one that was.
    const isOfPost = REFUSAL_CODES.some((code) => code === plan.refusalAfter);
    const refusal = isOfPost ? UNPROVEN : plan.refusalAfter;
    return answerFate(network.failure(refusal, exchange), "refused after the effect");
  }
  if (given !== undefined) return answerFate(given, "a given answer, after the effect");
  return answerFate(answer, known === undefined ? null : `answered ${known.name}`);
}

async function fateOf(served: Served, match: Match, exchange: Exchange): Promise<Fate> {
  const { site, route } = match;
  if (!isNetwork(site)) return answerFate(await run(match, exchange, NO_FAULTS));
  const account = site.accountOf(exchange);
  const { host, path, query, body } = exchange;
  const who = `${host} ${account}`;
  const sent = () => `${path}?${query.toString()}\n${body.toString()}`;
  const plan = served.faults.plan(
    { network: site.name, route: route.name, who, account, sent },
    await route.magic?.(exchange),
    route.about?.(exchange),
  );
  return suffer(site, match, exchange, plan);
}

async function send(response: ServerResponse, method: string, answer: Answer): Promise<void> {
  const { status, headers = {}, body = "" } = answer;
  const whole = typeof body === "string" ? Buffer.from(body) : body;
  const streamed = !(whole instanceof Uint8Array);
  response.writeHead(status, {
    ...headers,
    ...(streamed || status === 204 || status === 304 ? {} : { "content-length": whole.length }),
  });
  if (method === "HEAD" || !streamed) {
    response.end(method === "HEAD" || streamed ? undefined : whole);
    return;
  }
  try {
    await pipeline(Readable.from(whole), response);
  } catch {
    // The reader went away, or the answer is one that ends too early on purpose.
    response.destroy();
  }
}

function route(served: Served, exchange: Exchange): { site: Site; match: Match | undefined } {
  if (exchange.direct) {
    const match = matchRoute(served.own, exchange) ?? matchBrowser(served.sites, exchange);
    return { site: match?.site ?? served.own, match };
  }
  const site = siteOf(served.sites, exchange.host) ?? served.own;
  return { site, match: matchRoute(site, exchange) };
}

/** Answers one request as the network would to whose host it was sent. */
export async function serve(
  served: Served,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const started = performance.now();
  const arrived = { ...arrival(request), params: {}, body: Buffer.alloc(0) };
  const { site, match } = route(served, arrived);
  const host = homeOf(site, arrived);
  const body = await readBody(request, match?.route.bodyMax ?? BODY_MAX);
  const exchange = { ...arrived, host, params: match?.params ?? {}, body: body ?? Buffer.alloc(0) };
  const fate = await fateAt(served, { site, match, exchange, tooLarge: body === undefined });
  if (site !== served.own || exchange.method !== "GET")
    served.changed(isNetwork(site) ? site : undefined, exchange.method);
  if (site !== served.own) logged(served, site, match, { exchange, fate, started });
  if (fate.kind === "answer") await send(response, exchange.method, fate.answer);
  else if (fate.kind === "drop") response.destroy();
  else setTimeout(() => response.destroy(), HANG_MS_MAX).unref();
}

function homeOf(site: Site, { host, direct }: Exchange): string {
  return (direct && isNetwork(site) ? site.hosts[0] : undefined) ?? host;
}

async function fateAt(
  served: Served,
  at: { site: Site; match: Match | undefined; exchange: Exchange; tooLarge: boolean },
): Promise<Fate> {
  const { site, match, exchange } = at;
  if (at.tooLarge)
    return answerFate(
      isNetwork(site) ? site.tooLarge(exchange) : json(413, { error: "the body is too large" }),
    );
  if (match === undefined)
    return answerFate(publicPage(served, exchange) ?? site.notFound(exchange));
  return fateOf(served, match, exchange);
}

function logged(
  served: Served,
  site: Site,
  match: Match | undefined,
  done: { exchange: Exchange; fate: Fate; started: number },
): void {
  const { exchange, fate } = done;
  const key = exchange.headers["idempotency-key"];
  served.log.add({
    at: new Date(served.now()).toISOString(),
    method: exchange.method,
    host: exchange.host,
    path: redactedPath(exchange.path, exchange.query),
    network: isNetwork(site) ? site.name : null,
    route: match?.route.name ?? null,
    status: fate.kind === "answer" ? fate.answer.status : null,
    note: fate.note,
    durationMs: Math.round(performance.now() - done.started),
    authorization: exchange.headers.authorization === undefined ? "none" : "present",
    idempotencyKey: typeof key === "string" ? key : null,
  });
}
