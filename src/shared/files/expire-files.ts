import type { TakeStep } from "../runtime/walk-step.ts";
import { walkWakes, type Wake } from "../wake/wake.ts";
import type { FilesDeps } from "./deps.ts";
import { takesRoom, WAITING_MS, type UploadedFile, type FileRef } from "./file.ts";
import { expireOperation } from "./file-store.ts";
import { blobName } from "./open-file.ts";

/**
 * How long after its end a file is removed. No request can use it from its end on, and those that began before have ended
 * by then, also in a process whose clock is behind.
 */
const MARGIN_MS = 5 * 60_000;

/** Returns the wake that removes a file some minutes after its time is over. */
export const expiryWake = ({ platformId, profileId, fileId }: FileRef, end: Date): Wake => ({
  kind: "file",
  at: new Date(end.getTime() + MARGIN_MS).toISOString(),
  id: fileId,
  platformId,
  profileId,
});

const startOf = ({ createdAt }: UploadedFile) => new Date(Date.parse(createdAt) + WAITING_MS);
const endOfFile = (file: UploadedFile) =>
  file.state === "waiting" ? startOf(file) : new Date(file.keptUntil);
const isOver = (file: UploadedFile, now: Date) =>
  now.getTime() >= endOfFile(file).getTime() + MARGIN_MS;

/**
 * Makes the steps that remove files whose time is over: those whose upload did not come, and the others at `keptUntil`.
 * The blob goes first, so that a row without one is found again. A file that is kept for longer gets a row of the wake
 * index for then.
 */
export function expireFiles(deps: FilesDeps): TakeStep {
  const { clock, wakes, stores, partitions } = deps;
  return walkWakes(deps, {
    kind: "file",
    what: "expire-files",
    aheadMs: 0,
    isWanted: ({ at }, now) => at <= now.toISOString(),
    async visit(wake) {
      const { platformId, profileId, id: fileId } = wake;
      const ref = { platformId, profileId, fileId };
      const found = await stores.files.find(ref);
      if (found !== undefined && !isOver(found.file, clock.now())) {
        const { file } = found;
        if (stores.hasAccount && file.state !== "waiting") {
          // Bytes that arrived after the file was deleted or refused, or over those that count, are removed.
          const blob = await stores.blobs.find(blobName(deps, ref));
          if (blob !== undefined && (!takesRoom(file) || blob.etag !== file.etag))
            await stores.blobs.remove(blobName(deps, ref));
        }
        await wakes.add(expiryWake(ref, endOfFile(file)), clock.now());
      } else {
        // Also where there is no row: an upload may have arrived after its profile was erased.
        if (stores.hasAccount) await stores.blobs.remove(blobName(deps, ref));
        const isKept =
          found !== undefined &&
          (await partitions.commit(platformId, expireOperation(ref, isOver)));
        // The next run finds it with its new time.
        if (isKept) return;
      }
      await wakes.removeIfUnchanged(wake);
    },
  });
}
