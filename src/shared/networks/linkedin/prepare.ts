import { spare } from "../contract/fields.ts";
import * as z from "zod";
import { shape } from "../../runtime/shape.ts";
import { exchange } from "../contract/answers.ts";
import {
  legFailure,
  unanswered,
  unpublished,
  type LegFailure,
  type PrepareOutcome,
  type Rejected,
  type TryLater,
  mayStartOver,
} from "../contract/outcome.ts";
import type { LegToPublish } from "../contract/network.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { HttpFailure } from "../../runtime/http-call.ts";
import { type WantedFile, wantedFiles } from "./files.ts";
import { restRequest } from "./request.ts";
import { classifyFor } from "./session.ts";
import { type Asset, type Remote, credentialsOf, remoteOf } from "./state.ts";
import { type Preparing, isOver, uploadFile } from "./upload.ts";

/** Uploads stop here and go on under the next lease. */
const UPLOADING_MS = 40_000;
const CARRY_ON_SECONDS = 1;
const POLL_SECONDS: Readonly<Record<Asset["kind"], number>> = { image: 3, document: 5, video: 10 };
/** How long a document or video gets whose state can't be asked for. */
const GRACE_SECONDS = 30;
/**
 * How long an image gets then, each time that LinkedIn refuses the post because the image is not ready. Most are ready
 * at once, and the refusal proves that nothing was published.
 */
const IMAGE_GRACE_SECONDS = [0, 3, 6, 12] as const;

function graceOf({ kind }: Asset, { notReady = 0 }: Remote): number {
  return kind === "image" ? (IMAGE_GRACE_SECONDS[notReady] ?? 12) : GRACE_SECONDS;
}

/** Uploads missing files, then asks once for each file that the network is still processing. */
export async function prepare(leg: LegToPublish, tools: NetworkTools): Promise<PrepareOutcome> {
  const stored = remoteOf(leg.remote);
  // With a time of sending, a visible call was made and nobody knows what became of it.
  const remote =
    leg.sentAt === null ? { ...stored, isRepeat: false, doubts: 0 } : { ...stored, isRepeat: true };
  const credentials = credentialsOf(leg.credentials);
  const until = tools.now().getTime() + UPLOADING_MS;
  const preparing = { leg, credentials, tools, until };
  const uploaded = await uploadMissing(preparing, remote);
  if ("kind" in uploaded) return uploaded;
  return uploaded.assets.every(({ isReady }) => isReady)
    ? { kind: "ready", remote: uploaded }
    : pollAssets(preparing, uploaded);
}

async function uploadMissing(
  preparing: Preparing,
  remote: Remote,
): Promise<Remote | PrepareOutcome> {
  let current = remote;
  for (const [index, wanted] of wantedFiles(preparing.leg.draft).entries()) {
    const begun = current.assets[index];
    if (begun !== undefined && begun.upload === undefined) continue;
    if (current !== remote && isOver(preparing)) return processing(current, CARRY_ON_SECONDS);
    const step = await uploadFile(preparing, wanted, begun);
    switch (step.kind) {
      case "uploaded":
        current = withAsset(current, index, step.asset);
        if (step.asset.upload !== undefined) return processing(current, CARRY_ON_SECONDS);
        break;
      case "restart":
        return giveUp(current, index, step.failure, preparing.tools);
      case "try_later":
        // What is there is worth keeping: uploads count towards a daily limit.
        return { ...step, remote: withAsset(current, index, step.asset) };
      case "rejected":
        return step;
    }
  }
  return current;
}

async function pollAssets(preparing: Preparing, remote: Remote): Promise<PrepareOutcome> {
  const assets: Asset[] = [];
  let graceSeconds = 0;
  let isUnreadable = false;
  for (const [index, asset] of remote.assets.entries()) {
    // What holds for one file holds for the others: a member's token may not look at any.
    const state = asset.isReady
      ? "ready"
      : isUnreadable
        ? "unreadable"
        : await look(preparing, asset);
    if (typeof state !== "string") {
      const wanted = wantedFiles(preparing.leg.draft)[index];
      return state.kind === "failed"
        ? giveUp(remote, index, withIndex(state.failure, wanted), preparing.tools)
        : state;
    }
    if (state === "unreadable") {
      isUnreadable = true;
      graceSeconds = Math.max(graceSeconds, graceOf(asset, remote));
    }
    assets.push({ ...asset, isReady: state !== "working" });
  }
  const looked = { ...remote, assets };
  const waiting = assets.filter(({ isReady }) => !isReady).map(({ kind }) => POLL_SECONDS[kind]);
  const seconds = Math.max(graceSeconds, ...waiting);
  return seconds === 0 ? { kind: "ready", remote: looked } : processing(looked, seconds);
}

type AssetState =
  "ready" | "working" | "unreadable" | { readonly kind: "failed"; readonly failure: LegFailure };

const stateShape = shape(() =>
  z.object({
    status: z.string(),
    processingFailureReason: spare(z.string()),
  }),
);

async function look(
  { credentials, tools }: Preparing,
  { urn, kind }: Asset,
): Promise<AssetState | TryLater | Rejected> {
  const path = `${kind}s/${encodeURIComponent(urn)}`;
  const answer = await exchange(tools, restRequest(path, credentials, tools));
  if (answer instanceof HttpFailure) return unanswered(answer);
  if (answer.status === 403) return "unreadable";
  const state = stateShape().safeParse(answer.json()).data;
  if (answer.status !== 200 || state === undefined) {
    return unpublished(await classifyFor(answer, credentials, tools));
  }
  switch (state.status) {
    case "AVAILABLE":
      return "ready";
    case "PROCESSING_FAILED":
      return { kind: "failed", failure: processingFailed(state.processingFailureReason) };
    default:
      return "working";
  }
}

function processingFailed(reason = ""): LegFailure {
  const row = { code: "media_processing_failed", effect: "refuse" } as const;
  const networkCode = "PROCESSING_FAILED";
  return legFailure({ ...row, networkCode, note: reason.slice(0, 500), retryAfterSeconds: null });
}

function withIndex(failure: LegFailure, wanted: WantedFile | undefined): LegFailure {
  const mediaIndex = wanted?.mediaIndex ?? null;
  return mediaIndex === null ? failure : { ...failure, mediaIndex };
}

/** Begins the upload of a file anew that the network could not use, or rejects the leg if that was tried before. */
function giveUp(
  remote: Remote,
  index: number,
  failure: LegFailure,
  tools: NetworkTools,
): PrepareOutcome {
  const again = withoutAssets(remote, index, tools.now());
  return again === undefined ? { kind: "rejected", failure } : processing(again, CARRY_ON_SECONDS);
}

/**
 * Returns the state from which to upload anew; undefined if that is not allowed. LinkedIn does not recognise a post
 * with other files as a duplicate of an earlier one.
 */
export function withoutAssets(remote: Remote, from: number, now: Date): Remote | undefined {
  const { reuploadedAt, isRepeat, assets } = remote;
  if (isRepeat || !mayStartOver(reuploadedAt, now)) return undefined;
  return { ...remote, assets: assets.slice(0, from), reuploadedAt: now.toISOString() };
}

function withAsset(remote: Remote, index: number, asset: Asset | undefined): Remote {
  return asset === undefined
    ? remote
    : { ...remote, assets: [...remote.assets.slice(0, index), asset] };
}

function processing(remote: Remote, pollAfterSeconds: number): PrepareOutcome {
  return { kind: "processing", remote, pollAfterSeconds };
}
