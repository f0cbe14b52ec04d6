import * as z from "zod";
import type { HttpResponse } from "../../runtime/http-call.ts";
import { shape } from "../../runtime/shape.ts";
import { ask } from "../contract/ask.ts";
import { spare } from "../contract/fields.ts";
import type { LegToPublish } from "../contract/network.ts";
import { legFailure, mayStartOver } from "../contract/outcome.ts";
import type { PrepareOutcome, Rejected, TryLater } from "../contract/outcome.ts";
import type { NetworkTools } from "../contract/tools.ts";
import { type FileState, makeFiles, pollFiles, polling, processing } from "../contract/uploads.ts";
import { wantedFiles } from "./files.ts";
import { restRequest } from "./request.ts";
import { asks } from "./session.ts";
import { type Asset, credentialsOf, type Remote, remoteOf } from "./state.ts";
import { uploadFile } from "./upload.ts";

/** Uploads stop here and go on under the next lease. */
const UPLOADING_MS = 40_000;
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
  const until = tools.now().getTime() + UPLOADING_MS;
  const uploads = {
    filesOf: ({ assets }: Remote) => assets,
    withFiles: (before: Remote, assets: readonly Asset[]) => ({ ...before, assets: [...assets] }),
    count: ({ draft }: LegToPublish) => wantedFiles(draft).length,
    make: uploadFile(until),
    isWhole: ({ upload }: Asset) => upload === undefined,
    runMs: UPLOADING_MS,
    restart: withoutAssets,
  };
  const made = await makeFiles(uploads, { leg, remote }, tools);
  if ("kind" in made) return made;
  const uploaded = uploads.withFiles(remote, made.files);
  // What holds for one file holds for the others: a member's token may not look at any.
  let graceSeconds = 0;
  let isUnreadable = false;
  const look = async (asset: Asset, index: number) => {
    const state = isUnreadable ? "unreadable" : await askForAsset(leg, { asset, index }, tools);
    if (state !== "unreadable") return state;
    isUnreadable = true;
    graceSeconds = Math.max(graceSeconds, graceOf(asset, uploaded));
    return "ready";
  };
  const polled = await pollFiles(uploads, { remote: uploaded, look }, tools);
  if ("kind" in polled) return polled;
  const looked = uploads.withFiles(remote, polled.files);
  const waiting = looked.assets.flatMap(({ isReady, kind }) => (isReady ? [] : POLL_SECONDS[kind]));
  if (graceSeconds > 0) return processing(looked, Math.max(graceSeconds, ...waiting));
  return waiting.length === 0
    ? { kind: "ready", remote: looked }
    : polling(looked, Math.max(...waiting));
}

const stateShape = shape(() =>
  z.object({ status: z.string(), processingFailureReason: spare(z.string()) }),
);

async function askForAsset(
  { credentials, draft }: LegToPublish,
  { asset: { urn, kind }, index }: { readonly asset: Asset; readonly index: number },
  tools: NetworkTools,
): Promise<FileState | "unreadable" | TryLater | Rejected> {
  const own = credentialsOf(credentials);
  const request = restRequest(`${kind}s/${encodeURIComponent(urn)}`, own, tools);
  const mediaIndex = wantedFiles(draft)[index]?.mediaIndex ?? undefined;
  const read = (answer: HttpResponse) => readState(answer, mediaIndex);
  return ask(request, asks(own, tools, { read }), tools);
}

function readState(
  answer: HttpResponse,
  mediaIndex: number | undefined,
): FileState | "unreadable" | undefined {
  if (answer.status === 403) return "unreadable";
  const state = stateShape().safeParse(answer.json()).data;
  if (answer.status !== 200 || state === undefined) return undefined;
  if (state.status !== "PROCESSING_FAILED")
    return state.status === "AVAILABLE" ? "ready" : "working";
  const row = { code: "media_processing_failed", effect: "refuse" } as const;
  const note = (state.processingFailureReason ?? "").slice(0, 500);
  const why = { ...row, networkCode: state.status, note, retryAfterSeconds: null };
  return { kind: "broken", failure: legFailure(why, mediaIndex) };
}

/**
 * Returns the state from which to upload again; undefined if that is not allowed. LinkedIn does not recognise a post
 * with other files as a duplicate of an earlier one.
 */
export function withoutAssets(
  remote: Remote,
  assets: readonly Asset[],
  now: Date,
): Remote | undefined {
  if (remote.isRepeat || !mayStartOver(remote.reuploadedAt, now)) return undefined;
  return { ...remote, assets: [...assets], reuploadedAt: now.toISOString() };
}
