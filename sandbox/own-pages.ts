import { Refusal, empty, htmlPage, isObject, json, readObject } from "./exchange.ts";
import type { Answer, Exchange } from "./exchange.ts";
import type { FaultBook, GivenAnswer } from "./faults.ts";
import { sniffType } from "./file-type.ts";
import { frontPage } from "./front-page.ts";
import type { PublishedPost, SandboxNetwork, Site } from "./network.ts";
import type { BlobStore } from "./blob-store.ts";
import type { RequestLog } from "./request-log.ts";
import { mailboxRoutes } from "./mailbox-page.ts";
import type { Mailbox } from "./mailbox.ts";
import { route } from "./network.ts";
import { uploadRoutes, type UploadingCustomer } from "./uploads-page.ts";

const TIMES_MAX = 1000;

/** What the sandbox's own pages look at and switch. */
export interface Workings {
  readonly networks: readonly SandboxNetwork[];
  readonly blobs: BlobStore;
  readonly faults: FaultBook;
  readonly log: RequestLog;
  readonly mailbox: Mailbox;
  /** The sandbox's own address, without a slash at the end. */
  origin(): string;
  posts(network?: string): readonly PublishedPost[];
  /** What was taken down. */
  removed(): readonly PublishedPost[];
  reset(): void;
  advance(milliseconds: number): void;
  /** The relay's page that links accounts; "" while there is none. */
  connectUrl(): string;
  /** The relay's reference with a key to try calls with; "" while there is none. */
  referenceUrl(): string;
  /** For whom the page of uploads uploads files; undefined while there is no relay. */
  customer(): UploadingCustomer | undefined;
}

function problem(message: string): Refusal {
  return new Refusal(json(400, { error: message }));
}

function input(exchange: Exchange): Record<string, unknown> {
  if (exchange.body.length === 0) return {};
  const value = readObject(exchange);
  if (value === undefined) throw problem("the body must be a JSON object");
  return value;
}

function text(given: Readonly<Record<string, unknown>>, name: string): string {
  const value = given[name];
  if (typeof value !== "string" || value === "") throw new Error(`"${name}" is missing`);
  return value;
}

/** Runs a switch; what it complains about is the caller's. */
function switched(run: () => unknown): Answer {
  try {
    return json(200, { ok: true, result: run() ?? null });
  } catch (error) {
    throw problem(error instanceof Error ? error.message : String(error));
  }
}

/** An answer as a program writes it out: the body is text, or JSON of any kind. */
function readAnswer(given: unknown): GivenAnswer {
  if (!isObject(given)) throw new Error('"answer" is an object');
  const { status, headers = {}, body = "", isAfter = false, contains } = given;
  if (typeof status !== "number" || !Number.isInteger(status) || status < 200 || status > 599)
    throw new Error('"answer.status" is a whole number from 200 to 599');
  if (!isObject(headers) || Object.values(headers).some((value) => typeof value !== "string"))
    throw new Error('"answer.headers" has texts alone');
  if (typeof isAfter !== "boolean") throw new Error('"answer.isAfter" is true or false');
  if (contains !== undefined && typeof contains !== "string")
    throw new Error('"answer.contains" is a text');
  const isText = typeof body === "string";
  const usual = isText ? htmlPage(status, body) : json(status, body);
  return {
    status,
    headers: { ...usual.headers, ...(headers as Record<string, string>) },
    body: isText ? body : JSON.stringify(body),
    isAfter,
    contains,
  };
}

function switchFault(workings: Workings, exchange: Exchange): Answer {
  const given = input(exchange);
  return switched(() => {
    if (given["clear"] === true) {
      workings.faults.clear();
      return [];
    }
    const times = given["times"] ?? 1;
    if (typeof times !== "number" || !Number.isInteger(times) || times < 1 || times > TIMES_MAX)
      throw new Error(`"times" is a whole number from 1 to ${TIMES_MAX}`);
    const network = text(given, "network");
    const route = text(given, "route");
    const known = workings.networks.find(({ name }) => name === network);
    if (known === undefined) throw new Error(`there is no network "${network}"`);
    const names = [...new Set(known.routes.map(({ name }) => name))];
    if (route !== "*" && !names.includes(route))
      throw new Error(`"${route}" is no route of ${network}: ${names.join(", ")}`);
    const account = given["account"] === undefined ? undefined : text(given, "account");
    const { answer } = given;
    const fault = answer === undefined ? text(given, "fault") : readAnswer(answer);
    workings.faults.switchOn({ network, route, fault, account, times });
    return workings.faults.switches();
  });
}

/** What was ever published, in order: with what was taken down since. */
function everPublished(workings: Workings): readonly PublishedPost[] {
  const all = [...workings.posts(), ...workings.removed()];
  return all.toSorted((one, other) => one.publishedAt.localeCompare(other.publishedAt));
}

function blob(workings: Workings, exchange: Exchange): Answer {
  const bytes = workings.blobs.get(exchange.params["sha256"] ?? "");
  if (bytes === undefined) throw new Refusal(json(404, { error: "there is no such file" }));
  return {
    status: 200,
    headers: {
      // Nothing that was uploaded may run as a page of the sandbox.
      "content-type": sniffType(bytes) ?? "application/octet-stream",
      "x-content-type-options": "nosniff",
      "cache-control": "public, max-age=86400, immutable",
    },
    body: bytes,
  };
}

/** Leads to a page of the relay, once there is one. */
function ledTo(location: string): Answer {
  if (location === "") throw new Refusal(json(404, { error: "the relay has no such page yet" }));
  return { ...empty(302), headers: { location } };
}

/** The sandbox's own address: the front page, and what tests and other programs ask it. */
export function ownSite(workings: Workings): Site {
  return {
    name: "sandbox",
    hosts: [],
    routes: [
      route("GET /", "sandbox", ({ query }) => {
        const shown = { origin: workings.origin(), isStill: query.has("still") };
        return htmlPage(200, frontPage(workings.networks, everPublished(workings), shown));
      }),
      route("GET /connect", "sandbox", () => ledTo(workings.connectUrl())),
      route("GET /reference", "sandbox", () => ledTo(workings.referenceUrl())),
      route("GET /_sandbox/health", "sandbox", () => json(200, { status: "ok" })),
      route("GET /_sandbox/posts", "sandbox", ({ query }) =>
        json(200, { posts: workings.posts(query.get("network") ?? undefined) }),
      ),
      route("GET /_sandbox/removed", "sandbox", () => json(200, { posts: workings.removed() })),
      route("GET /_sandbox/requests", "sandbox", () =>
        json(200, { requests: workings.log.entries() }),
      ),
      route("GET /_sandbox/faults", "sandbox", () =>
        json(200, { faults: workings.faults.switches() }),
      ),
      route("POST /_sandbox/faults", "sandbox", (exchange) => switchFault(workings, exchange)),
      route("POST /_sandbox/reset", "sandbox", () => switched(() => workings.reset())),
      route("POST /_sandbox/clock", "sandbox", (exchange) => {
        const milliseconds = input(exchange)["advanceMs"];
        if (typeof milliseconds !== "number" || milliseconds < 0)
          throw problem('"advanceMs" must not be negative');
        return switched(() => workings.advance(milliseconds));
      }),
      ...mailboxRoutes(workings.mailbox),
      ...uploadRoutes(workings.networks, () => workings.customer()),
      route("GET /_sandbox/blobs/{sha256}", "sandbox", (exchange) => blob(workings, exchange)),
    ],
    notFound: () => json(404, { error: "the sandbox has no such page" }),
  };
}
