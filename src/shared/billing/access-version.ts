import { AppError } from "../runtime/errors.ts";
import { randomToken } from "../runtime/secrets.ts";
import type { CoreOperation } from "./core-operation.ts";

// The access version says whether rows that a process has kept are still as new as the last change that was answered.
// Whatever changes what may be published for a platform, or who may ask for it, writes its own row first, then raises
// the version in the platform's wallet, and then answers. A process that reads the version, then the rows, and later
// finds the same version, has missed no change that was answered. Accepting a post is a transaction under the wallet's
// ETag: one that commits under a version commits before the raise that replaces it, and so before the change was
// answered. A version is random and never a counter, so that none comes back.

const VERSION_BYTES = 12;

/**
 * Nothing was done, because what the request was decided on is older than a change that may have been answered: it is to
 * be read and decided anew. Whoever gets it as an answer may repeat the request.
 */
export class OutdatedAccess extends AppError {
  constructor() {
    super("service_unavailable", "The service can't answer right now. Try again.", {
      retryAfterSeconds: 1,
    });
  }
}

/**
 * Raises the access version of a platform. To be called after the row of the change is written and before the change is
 * answered; again whenever the change is repeated, because an earlier try may have ended in between.
 * @throws AppError `service_unavailable` when it may not have been raised: the change is then not to be answered
 */
export type RaiseAccess = (platformId: string) => Promise<unknown>;

/**
 * Makes the operation that raises the access version, and answers with the new one. Each raise is an operation of its
 * own: one that is under way may be older than the change that this one is for. A platform without a wallet gets one.
 */
export function raiseOperation(): CoreOperation<string> {
  const accessVersion = randomToken(VERSION_BYTES);
  return {
    id: `access|${accessVersion}`,
    rowKeys: [],
    decide({ wallet }) {
      if (wallet.accessVersion === accessVersion) return { kind: "done", answer: accessVersion };
      return { kind: "write", movements: [], writes: [], accessVersion, answer: accessVersion };
    },
  };
}
