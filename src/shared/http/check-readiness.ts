import * as z from "zod";
import { AppError } from "../runtime/errors.ts";
import { count } from "../runtime/fields.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { type SingleFlight, withTimeLimit } from "../runtime/promises.ts";
import type { Mail } from "../mail/mail.ts";
import type { FileStorageState } from "../files/files.ts";

interface ReadinessCheck {
  readonly status: "ok" | "failed";
  readonly durationMs: number;
}

export interface Readiness {
  readonly status: "ready";
  /** Absent where the relay sends no mail. A mail server that fails delays mails, and no request. */
  readonly mail?: "ok" | "failing" | undefined;
  /** Posts without files don't need their storage. */
  readonly files: FileStorageState;
  readonly checks: {
    readonly tables: ReadinessCheck;
    readonly queues: ReadinessCheck;
    readonly config: ReadinessCheck;
  };
}

/** What `GET /ready` asks. */
export interface ReadinessParts {
  /** The last check of whether the process can do its work. */
  readonly checks: SingleFlight<Readiness>;
  /** Finds out whether the tables answer. */
  readonly pingTables: () => Promise<unknown>;
  /** Finds out whether the queue of publishing answers. */
  readonly pingQueue: () => Promise<void>;
  /** Issues and verifies a session, which needs the secrets of the settings. */
  readonly useSecrets: () => Promise<void>;
  readonly mailServerState: Mail["serverState"];
  /** Finds out whether the storage of files answers. */
  readonly fileStorageState: () => Promise<FileStorageState>;
  /** The last result of that, because the code for it is large, and everything else is checked each second. */
  readonly fileChecks: SingleFlight<FileStorageState>;
}

const CHECK_TIMEOUT_MS = 3_000;

const checkResult = shape(() =>
  z.strictObject({ status: z.enum(["ok", "failed"]), durationMs: count() }),
);

/** The checks of `GET /ready`. Its 503 has them too. */
export const readinessChecks = shape(() =>
  z.strictObject({ tables: checkResult(), queues: checkResult(), config: checkResult() }),
);

export const readiness = shape(
  () =>
    z
      .strictObject({
        status: z.literal("ready"),
        checks: readinessChecks(),
        mail: z
          .enum(["ok", "failing"])
          .optional()
          .describe(
            "Whether the mail server accepts emails. It never changes the status. Absent if the relay sends no email.",
          ),
        files: z
          .enum(["ok", "failing", "off"])
          .describe(
            "Whether the storage of uploaded files answers, checked once a minute. It never changes the status. `off` if the relay has none: the routes of `/v1/media` are then 503.",
          ),
      })
      .meta({ id: "Readiness" }) satisfies z.ZodType<Readiness>,
);

export const health = shape(() =>
  z.strictObject({ status: z.literal("ok") }).meta({ id: "Health" }),
);

export const readinessExample = (): ShapeOf<typeof readiness> => ({
  status: "ready",
  checks: {
    tables: { status: "ok", durationMs: 4 },
    queues: { status: "ok", durationMs: 3 },
    config: { status: "ok", durationMs: 1 },
  },
  mail: "ok",
  files: "ok",
});

async function timed(work: () => Promise<unknown>): Promise<ReadinessCheck> {
  const startedAt = performance.now();
  // The answer says which part failed, but doesn't tell an anonymous caller why.
  const failed = () => "failed" as const;
  const checking = work().then(() => "ok" as const, failed);
  const status = await withTimeLimit(CHECK_TIMEOUT_MS, checking, failed);
  return { status, durationMs: Math.round(performance.now() - startedAt) };
}

/**
 * Checks storage and settings, or returns the result of a check that began within the last second.
 * @throws AppError `not_ready` with the checks in its details
 */
export function checkReadiness({
  readiness: parts,
}: {
  readonly readiness: ReadinessParts;
}): Promise<Readiness> {
  return parts.checks.run("", () => check(parts));
}

async function check(parts: ReadinessParts): Promise<Readiness> {
  const unknown = () => undefined;
  const failing = () => "failing" as const;
  const [tables, queues, config, mail, files] = await Promise.all([
    timed(() => parts.pingTables()),
    timed(() => parts.pingQueue()),
    timed(() => parts.useSecrets()),
    // Storage that doesn't tell is a failed check already.
    withTimeLimit(CHECK_TIMEOUT_MS, parts.mailServerState().catch(unknown), unknown),
    withTimeLimit(
      CHECK_TIMEOUT_MS,
      parts.fileChecks.run("", () => parts.fileStorageState()),
      failing,
    ),
  ]);
  const checks = { tables, queues, config };
  if (Object.values(checks).some(({ status }) => status === "failed"))
    throw new AppError("not_ready", "The service is not ready.", { details: { checks } });
  return { status: "ready", checks, ...(mail !== undefined && { mail }), files };
}
