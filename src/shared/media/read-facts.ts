import type { MediaFacts } from "../networks/contract/media.ts";
import { withTimeLimit } from "../runtime/time-limit.ts";
import { unreachable } from "./dialled.ts";
import { HeldMemory } from "./held-memory.ts";
import { KnownPieces } from "./known-pieces.ts";
import type { FileFacts, ReadBy } from "./media-reader.ts";
import type { RemoteBytes } from "./remote-bytes.ts";

/** Index tables of long videos take a few megabytes; what needs more is left to the network to judge. */
const BYTES_MAX = 8 * 1024 * 1024;
/** Each look goes over all that is there: what is in so many parts is left to the network as well. */
const LOOKS_MAX = 24;
/** For all that is asked of its server: somebody else's files wait. */
const FETCH_MS_MAX = 30_000;

const UNKNOWN: FileFacts = { width: null, height: null, durationSeconds: null, image: null };

type File = Pick<MediaFacts, "contentType" | "size">;

/** Types whose inside is looked into; of others the first bytes say all that is known. */
const isLookedInto = (contentType: string) => /^(?:image|video|audio)\//.test(contentType);

/**
 * Finds out what a file is by a bounded number of its bytes, the first of which are there already. Its server is waited
 * for here; no reader is kept from other files meanwhile.
 * @throws MediaFailure
 */
export async function readFacts(
  { reader, owner }: ReadBy,
  file: File,
  bytes: Pick<RemoteBytes, "read">,
  sample: Uint8Array,
): Promise<FileFacts> {
  if (!isLookedInto(file.contentType)) return UNKNOWN;
  const known = new KnownPieces();
  known.add({ start: 0, bytes: sample });
  const until = performance.now() + FETCH_MS_MAX;
  const memory = new HeldMemory(owner);
  try {
    for (let look = 0; look < LOOKS_MAX; look += 1) {
      const answer = await reader.facts(owner, file, known.pieces);
      if (answer.kind === "facts") return answer.facts;
      const { start, end } = known.toFetch(answer.start, answer.end, file.size);
      if (end <= start || known.length + end - start > BYTES_MAX) return UNKNOWN;
      memory.take(end - start);
      known.add({ start, bytes: await inTime(bytes.read(start, end - 1), until) });
    }
    return UNKNOWN;
  } finally {
    memory.release();
  }
}

/** Returns what a call to the file's server brings. @throws MediaFailure when that takes too long */
export function inTime<T>(work: Promise<T>, until: number): Promise<T> {
  return withTimeLimit(Math.max(0, until - performance.now()), work, () => {
    throw unreachable("its server is too slow");
  });
}
