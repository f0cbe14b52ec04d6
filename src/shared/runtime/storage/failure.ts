/** What a storage call's error says, whatever shape the SDK gave it. */
export interface Failure {
  readonly status: number | undefined;
  readonly code: string | undefined;
}

export function failureOf(error: unknown): Failure {
  if (typeof error !== "object" || error === null) return { status: undefined, code: undefined };
  const { statusCode, code, details } = error as {
    statusCode?: unknown;
    code?: unknown;
    details?: { errorCode?: unknown; odataError?: { code?: unknown } };
  };
  const named = details?.odataError?.code ?? details?.errorCode ?? code;
  return {
    status: typeof statusCode === "number" ? statusCode : undefined,
    code: typeof named === "string" ? named : undefined,
  };
}

/** The server answered that it did not do it; anything else may still have its effect. */
export function isDefinite(error: unknown): boolean {
  const { status } = failureOf(error);
  return status !== undefined && status >= 400 && status < 500 && status !== 408;
}

export function isMissingContainer(error: unknown): boolean {
  const { code } = failureOf(error);
  return code === "TableNotFound" || code === "QueueNotFound";
}

const READ_TRIES = 3;

/** Reads may be repeated freely: twice more, with full jitter. */
export async function retryRead<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (isDefinite(error) || attempt === READ_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 50 * 2 ** attempt));
    }
  }
}
