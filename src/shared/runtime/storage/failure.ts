/** An answer of the storage service other than success. */
export class StorageRefusal extends Error {
  readonly statusCode: number;
  readonly code: string | undefined;

  constructor(
    message: string,
    { statusCode, code }: { readonly statusCode: number; readonly code: string | undefined },
  ) {
    super(message);
    this.name = "StorageRefusal";
    this.statusCode = statusCode;
    this.code = code;
  }
}

/** Status and code of a failed storage call. The SDK for queues has them in different places. */
export interface StorageFailure {
  readonly status: number | undefined;
  readonly code: string | undefined;
  /** Index of the write that made a transaction fail. The error's message begins with it ("3:The entity …"). */
  readonly failedWrite?: number | undefined;
}

export function failureOf(error: unknown): StorageFailure {
  if (typeof error !== "object" || error === null) return { status: undefined, code: undefined };
  const { statusCode, code, details } = error as {
    statusCode?: unknown;
    code?: unknown;
    details?: { errorCode?: unknown; odataError?: { code?: unknown } };
  };
  const index = error instanceof Error ? /^(\d{1,3}):/.exec(error.message)?.[1] : undefined;
  const named = details?.odataError?.code ?? details?.errorCode ?? code;
  return {
    status: typeof statusCode === "number" ? statusCode : undefined,
    code: typeof named === "string" ? named : undefined,
    failedWrite: index === undefined ? undefined : Number(index),
  };
}

/** Reports whether the service definitely refused the call. After any other error the call may still take effect. */
export function isDefinite(error: unknown): boolean {
  const { status } = failureOf(error);
  return status !== undefined && status >= 400 && status < 500 && status !== 408;
}

/** Reports whether the service or the row's partition was overloaded, so that it may accept the same call later. */
export function isOverloaded(error: unknown): boolean {
  return failureOf(error).status === 503;
}

const TRIES = 3;
const TRIES_OF_BUSY = 10;
const PAUSE_MS = 50;
const PAUSE_MS_MAX = 400;

/**
 * Repeats a failed read or unconditional write: up to twice, or up to nine times in 2 to 3 seconds while the service is
 * overloaded. Repeating such a write leaves the same row, and one that is applied late is no worse than a slow one.
 * Conditional writes are never repeated, because they would lose the race against themselves.
 */
export async function retryHarmless<T>(call: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      const [triesMax, jitter] = isOverloaded(error) ? [TRIES_OF_BUSY, 0.5] : [TRIES, 1];
      if (isDefinite(error) || tries >= triesMax) throw error;
      const pauseMs = Math.min(PAUSE_MS_MAX, PAUSE_MS * 2 ** tries);
      const waitMs = pauseMs * (1 - Math.random() * jitter);
      await new Promise((resolve) => setTimeout(resolve, waitMs));
    }
  }
}
