import * as z from "zod";
import type { HttpResponse } from "../../runtime/http-call.ts";
import { inForm } from "../contract/ask.ts";
import { ofRead } from "../contract/blame.ts";
import { objectShape, lenient } from "../contract/fields.ts";
import { legFailure, mayStartOver } from "../contract/outcome.ts";
import type { PrepareOutcome, Rejection, TryLater } from "../contract/outcome.ts";
import { type FileState, makeFiles, pollFiles, polling, processing } from "../contract/uploads.ts";
import { restRequest } from "./request.ts";
import { askAs } from "./session.ts";
import type { Asset, Leg, Remote } from "./state.ts";
import { uploadFile, wantedFiles } from "./upload.ts";

/** Uploads stop here and continue under the next lease. */
const UPLOADING_MS = 40_000;
const POLL_SECONDS: Readonly<Record<Asset["kind"], number>> = { image: 3, document: 5, video: 10 };
/** How long to wait for a document or video whose state can't be read. */
const GRACE_SECONDS = 30;
/**
 * How long to wait for an image whose state can't be read, each time that LinkedIn refuses the post because it is not
 * ready. Most are ready immediately, and the refusal proves that nothing was published.
 */
const IMAGE_GRACE_SECONDS = [0, 3, 6, 12] as const;

function graceOf({ kind }: Asset, { notReady = 0 }: Remote): number {
  return kind === "image" ? (IMAGE_GRACE_SECONDS[notReady] ?? 12) : GRACE_SECONDS;
}

/** Uploads missing files, then asks once about each file that the network is still processing. */
export async function prepare(stored: Leg): Promise<PrepareOutcome> {
  // If a time of sending is stored, a visible call was made and its outcome is unknown.
  const repeat = stored.sentAt === null ? { isRepeat: false, doubts: 0 } : { isRepeat: true };
  const leg = { ...stored, remote: { ...stored.remote, ...repeat } };
  const until = leg.tools.now().getTime() + UPLOADING_MS;
  const uploads = {
    filesOf: ({ assets }: Remote) => assets,
    withFiles: (before: Remote, assets: readonly Asset[]) => ({ ...before, assets: [...assets] }),
    count: ({ draft }: Leg) => wantedFiles(draft).length,
    make: uploadFile(until),
    isWhole: ({ upload }: Asset) => upload === undefined,
    runMs: UPLOADING_MS,
    restart: withoutAssets,
  };
  const made = await makeFiles(uploads, leg);
  if ("kind" in made) return made;
  const uploaded = { ...leg, remote: uploads.withFiles(leg.remote, made.files) };
  // What holds for one file holds for the others, because a member's token may not be allowed to read any.
  let graceSeconds = 0;
  let isUnreadable = false;
  const look = async (asset: Asset, index: number) => {
    const state = isUnreadable ? "unreadable" : await askForAsset(uploaded, asset, index);
    if (state !== "unreadable") return state;
    isUnreadable = true;
    graceSeconds = Math.max(graceSeconds, graceOf(asset, uploaded.remote));
    return "ready";
  };
  const polled = await pollFiles(uploads, uploaded, look);
  if ("kind" in polled) return polled;
  const remote = uploads.withFiles(leg.remote, polled.files);
  const waiting = remote.assets.flatMap(({ isReady, kind }) => (isReady ? [] : POLL_SECONDS[kind]));
  if (graceSeconds > 0) return processing(remote, Math.max(graceSeconds, ...waiting));
  return waiting.length === 0 ? { kind: "ready", remote } : polling(remote, Math.max(...waiting));
}

const stateShape = objectShape(() => ({
  status: z.string(),
  processingFailureReason: lenient(z.string()),
}));

async function askForAsset(
  leg: Leg,
  { urn, kind }: Asset,
  index: number,
): Promise<FileState | "unreadable" | TryLater | Rejection> {
  const mediaIndex = wantedFiles(leg.draft)[index]?.mediaIndex ?? undefined;
  const read = (answer: HttpResponse) => readState(answer, mediaIndex);
  const request = restRequest(`${kind}s/${encodeURIComponent(urn)}`, leg);
  const state = await askAs(request, { read }, leg);
  const isRefused = typeof state === "object" && state.kind === "rejected";
  return isRefused ? ofRead("linkedin", state) : state;
}

function readState(
  answer: HttpResponse,
  mediaIndex: number | undefined,
): FileState | "unreadable" | undefined {
  if (answer.status === 403) return "unreadable";
  const state = inForm(stateShape)(answer);
  if (state === undefined) return undefined;
  if (state.status !== "PROCESSING_FAILED")
    return state.status === "AVAILABLE" ? "ready" : "working";
  const row = { code: "media_processing_failed", effect: "refuse" } as const;
  const note = (state.processingFailureReason ?? "").slice(0, 500);
  const why = { ...row, networkCode: state.status, note, retryAfterSeconds: null };
  return { kind: "broken", failure: legFailure(why, mediaIndex) };
}

/**
 * Returns the state from which to upload again, or undefined if that is not allowed. LinkedIn doesn't recognize a post
 * with other files as a duplicate of an earlier one.
 */
export function withoutAssets(
  { remote, tools }: Leg,
  assets: readonly Asset[] = [],
): Remote | undefined {
  const now = tools.now();
  if (remote.isRepeat || !mayStartOver(remote.reuploadedAt, now)) return undefined;
  return { ...remote, assets: [...assets], reuploadedAt: now.toISOString() };
}
