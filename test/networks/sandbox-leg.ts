import type { Sandbox } from "../../sandbox/server.ts";
import type {
  CredentialsOutcome,
  PrepareOutcome,
  Done,
  Outcome,
  Finding,
} from "../../src/shared/networks/contract/outcome.ts";
import type { LegDraft, NetworkData } from "../../src/shared/networks/contract/draft.ts";
import type { Network } from "../../src/shared/networks/contract/network.ts";
import type { LegToPublish } from "../../src/shared/networks/contract/visible-call.ts";
import type { LinkedAccount } from "../../src/shared/networks/contract/link.ts";
import type { NetworkApp } from "../../src/shared/networks/contract/settings.ts";
import type { NetworkTools } from "../../src/shared/networks/contract/tools.ts";
import {
  type HttpRequest,
  type HttpResponse,
  HttpFailure,
} from "../../src/shared/runtime/http-call.ts";
import { fitImage } from "../../src/shared/media/fit-image.ts";
import { mediaReader } from "../../src/shared/media/media-reader.ts";
import { openMedia } from "../../src/shared/media/open-media.ts";
import type { OpenedResponse } from "../../src/shared/runtime/outbound-body.ts";

const CALL_TIMEOUT_MS = 1500;
const STEPS_MAX = 25;

export interface SandboxTools extends NetworkTools {
  /** Puts the clocks of both sides forward. */
  advance(seconds: number): void;
}

/** Tools that dial the sandbox under every host's name. */
export function sandboxTools(sandbox: Sandbox, app?: NetworkApp): SandboxTools {
  const hosts = new Map<string, NetworkData>();
  let aheadMs = 0;
  const http = (request: HttpRequest) => dial(sandbox, request);
  const dialler = { request: http, open: (request: HttpRequest) => open(sandbox, request) };
  return {
    app,
    service: { name: "Publishing Relay", url: "https://relay.example" },
    advance(seconds) {
      aheadMs += seconds * 1000;
      sandbox.advance(seconds * 1000);
    },
    http,
    now: () => new Date(Date.now() + aheadMs),
    dnsTexts: () => Promise.resolve([]),
    addressOf: (url) => Promise.resolve(url),
    openMedia: (url, limits) => openMedia(dialler, url, limits),
    fitImage,
    readPage: (page) => mediaReader.page("", page),
    fittedUrl: ({ url }) => url,
    hosts: {
      find: (host) => Promise.resolve(hosts.get(host)),
      save(host, data) {
        hosts.set(host, data);
        return Promise.resolve();
      },
    },
  };
}

async function send(sandbox: Sandbox, request: HttpRequest): Promise<Response> {
  const { host, pathname, search } = new URL(request.url);
  const { body } = request;
  const isStreamed = typeof body === "object" && "chunks" in body;
  const sent = isStreamed ? await wholeOf(body.chunks()) : (body as string | undefined);
  return await fetch(sandbox.url + pathname + search, {
    method: request.method,
    redirect: "manual",
    headers: { ...request.headers, "x-forwarded-host": host },
    signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    ...(sent === undefined ? {} : { body: sent }),
  });
}

async function wholeOf(chunks: AsyncIterable<Uint8Array>): Promise<Buffer<ArrayBuffer>> {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return Buffer.concat(parts);
}

async function dial(sandbox: Sandbox, request: HttpRequest): Promise<HttpResponse> {
  try {
    const response = await send(sandbox, request);
    const body = Buffer.from(await response.arrayBuffer());
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body,
      text: () => body.toString(),
      json: () => {
        try {
          return JSON.parse(body.toString()) as unknown;
        } catch {
          return undefined;
        }
      },
    };
  } catch (error) {
    throw new HttpFailure("in_doubt", "connection_lost", { cause: error });
  }
}

async function open(sandbox: Sandbox, request: HttpRequest): Promise<OpenedResponse> {
  const { status, headers, body } = await dial(sandbox, request);
  return {
    status,
    headers,
    async *chunks() {
      yield body;
    },
    cancel: () => undefined,
  };
}

type Taken =
  CredentialsOutcome | PrepareOutcome | Outcome | Finding | { readonly kind: "out_of_steps" };

export interface Walk {
  readonly outcome: Taken;
  /** The steps that were taken, e.g. `prepare ready`. */
  readonly steps: readonly string[];
  readonly leg: LegToPublish;
}

/**
 * Walks a leg as the contract of `Network` says, each step from stored state alone, until it is published, refused or
 * unknowable. `try_later` is tried again at once, with fresh credentials; a wait is no more than a clock put forward.
 */
export async function walkLeg(
  network: Network,
  linked: LinkedAccount,
  draft: Partial<LegDraft>,
  tools: SandboxTools,
): Promise<Walk> {
  const key = `leg ${JSON.stringify(draft)}`;
  const whole: LegDraft = { text: "", media: [], options: {}, ...draft };
  const started = {
    key,
    draft: whole,
    ...linked,
    remote: network.begin({ key, now: tools.now() }),
  };
  return resumeLeg(network, { ...started, sentAt: null, isUnpublished: true }, tools);
}

type Step = "prepare" | "perform" | "find";

/** What follows an outcome; nothing when it is the last one. */
const NEXT: Readonly<Record<Exclude<Taken["kind"], "usable" | "refreshed">, Step | "same" | null>> =
  {
    done: null,
    rejected: null,
    unknowable: null,
    out_of_steps: null,
    ready: "perform",
    processing: "prepare",
    prepare_again: "prepare",
    unknown: "find",
    absent: "perform",
    repeatable: "perform",
    refused: null,
    try_later: "same",
    not_yet: "same",
  };

async function resumeLeg(
  network: Network,
  stored: LegToPublish,
  tools: SandboxTools,
): Promise<Walk> {
  let leg = stored;
  let step: Step = leg.sentAt === null ? "prepare" : "find";
  const steps: string[] = [];
  while (steps.length < STEPS_MAX) {
    const fresh = await network.freshen(leg.credentials, leg.instanceUrl, tools);
    if (fresh.kind === "rejected") return { outcome: fresh, steps, leg };
    if (fresh.kind === "refreshed") leg = { ...leg, credentials: fresh.credentials };
    if (step === "perform")
      leg = { ...leg, sentAt: leg.sentAt ?? tools.now(), isUnpublished: false };
    const outcome: PrepareOutcome | Outcome | Finding = await network.calls.publish[step](
      leg,
      tools,
    );
    steps.push(`${step} ${outcome.kind}`);
    // Through JSON, as a leg is stored between its steps.
    if ("remote" in outcome && outcome.remote !== undefined) {
      leg = { ...leg, remote: JSON.parse(JSON.stringify(outcome.remote)) as NetworkData };
    }
    if (outcome.kind === "not_yet") tools.advance(outcome.pollAfterSeconds);
    const next: Step | "same" | null = NEXT[outcome.kind];
    if (next === null) return { outcome, steps, leg };
    if (next !== "same") step = next;
  }
  return { outcome: { kind: "out_of_steps" }, steps, leg };
}

export function publishedBy(walk: Walk): Done & { readonly externalId: string } {
  if (walk.outcome.kind !== "done") {
    throw new Error(
      `not published: ${JSON.stringify(walk.outcome)} after ${walk.steps.join(", ")}`,
    );
  }
  const { externalId } = walk.outcome;
  if (externalId === null) throw new Error("published without an id");
  return { ...walk.outcome, externalId };
}
