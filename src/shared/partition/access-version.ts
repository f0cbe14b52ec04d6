import type { AccessCheck } from "../callers/access-check.ts";
import { AppError, serviceUnavailable } from "../runtime/errors.ts";
import { randomToken } from "../runtime/secrets.ts";
import type { RowWrite } from "../runtime/storage/row.ts";
import type { PartitionOperation, PartitionView, EarlierTry } from "./operation.ts";

// The access version says whether the rows that a request was decided on are as new as the last change that was
// answered. A change of what may be published for a platform, or of who may ask for it, is one transaction with the
// version in the head of the platform's partition that it replaces. A process that reads the version, then the rows, and
// later finds the same version, has missed no change. Accepting a post is a transaction under the head's ETag: one that
// commits under a version commits before the change that replaces it. A version is random and never a counter, so that
// none comes back.
//
//   accepting a post       its operation compares the version; under another one the request runs again, on newer rows
//   other writes           the first operation that writes compares it (`checkedCommit`); under another one the access
//                          rule runs again, and not the verb, which may have written elsewhere
//   reads on cached rows   the version is read beside them (`requireSameVersion`); then as for accepting a post

const VERSION_BYTES = 12;

/**
 * Thrown instead of an answer when the rows can't decide a request: they are cached and not sufficient, or older than a
 * change that may have been answered. Nothing was done. The request is read and decided again.
 */
export class OutdatedAccess extends Error {}

/**
 * Reports whether a request that failed with this error is decided again. Cached rows can only allow, so a refusal
 * based on them is decided again. An outage or a reached limit doesn't depend on them.
 */
export function isDecidedAgain(error: unknown, areCached: boolean): boolean {
  if (error instanceof OutdatedAccess) return true;
  if (!areCached || !(error instanceof AppError)) return false;
  return error.code !== "service_unavailable" && error.code !== "rate_limited";
}

/** Reads whether the version is still the one that was read before the rows. @throws OutdatedAccess */
export async function requireSameVersion(
  partitions: { readAccessVersion(platformId: string): Promise<string> },
  {
    platformId = "",
    accessVersion,
  }: { readonly platformId?: string; readonly accessVersion: string },
): Promise<void> {
  if ((await partitions.readAccessVersion(platformId)) !== accessVersion)
    throw new OutdatedAccess();
}

/** What an operation of `accessOperation` decides: its writes, or only an answer when nothing is to be written. */
export type AccessDecision<Answer> =
  | { readonly answer: Answer }
  | {
      readonly answer: Answer;
      readonly writes: readonly RowWrite[];
      /** Whether cached rows can't be used any more afterwards. */
      readonly raises: boolean;
    };

/**
 * Makes an operation that changes rows which say who may ask or what may be published, and that raises the access
 * version in the same transaction. `decide` must answer from the rows if an earlier try was applied.
 */
export function accessOperation<Answer>(
  rowKeys: readonly string[],
  decide: (view: PartitionView, tried?: EarlierTry<Answer>) => AccessDecision<Answer>,
): PartitionOperation<Answer> {
  const version = randomToken(VERSION_BYTES);
  return {
    id: `access|${version}`,
    rowKeys,
    decide(view, tried) {
      // The last try was applied, although its answer was lost.
      if (tried !== undefined && view.accessVersion === version)
        return { kind: "done", answer: tried.answer, isOwn: true };
      let decision: AccessDecision<Answer>;
      try {
        decision = decide(view, tried);
      } catch (error) {
        if (error instanceof AppError) return { kind: "refuse", error };
        throw error;
      }
      const { answer } = decision;
      if (!("writes" in decision)) return { kind: "done", answer };
      const { writes, raises } = decision;
      const raise = raises ? { accessVersion: version } : {};
      return { kind: "write", writes, answer, ...raise };
    },
  };
}

/** Makes an operation that only raises the access version. A partition without a head gets one. */
export function raiseOperation(): PartitionOperation<string> {
  const version = randomToken(VERSION_BYTES);
  return {
    id: `access|${version}`,
    rowKeys: [],
    decide: ({ accessVersion }) =>
      accessVersion === version
        ? { kind: "done", answer: version }
        : { kind: "write", writes: [], accessVersion: version, answer: version },
  };
}

/**
 * More changes than can happen between the check and the transaction of one request, even when a customer ends
 * everything at the same time. A check takes some reads.
 */
const TRIES_MAX = 60;

/**
 * Submits an operation. The operation of a request that writes is refused when the access version isn't the one under
 * which the caller was checked. The caller is then checked again. An earlier try that was applied stays applied.
 */
export async function checkedCommit<Answer>(
  check: AccessCheck,
  operation: PartitionOperation<Answer>,
  submit: <Submitted>(operation: PartitionOperation<Submitted>) => Promise<Submitted>,
): Promise<Answer> {
  const checked: PartitionOperation<{ readonly answer: Answer; readonly isWritten: boolean }> = {
    ...operation,
    decide(view, tried) {
      const decision = operation.decide(view, tried?.answer);
      if (decision.kind === "refuse") return decision;
      if (decision.kind === "write" && !check.fits(view.accessVersion))
        return { kind: "refuse", error: new OutdatedAccess() };
      // An earlier try may have lost a race, so it doesn't prove the access that it was decided under.
      const isWritten = decision.kind === "write" || decision.isOwn === true;
      return { ...decision, answer: { answer: decision.answer, isWritten } };
    },
  };
  for (let tries = 1; ; tries += 1) {
    try {
      const { answer, isWritten } = await submit(checked);
      if (isWritten) check.end();
      return answer;
    } catch (error) {
      if (!(error instanceof OutdatedAccess)) throw error;
      if (tries === TRIES_MAX) throw serviceUnavailable();
      await check.again();
    }
  }
}
