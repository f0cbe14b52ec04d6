const ENTRIES_MAX = 1000;
const SECRET_PARAMETERS =
  /^(code|client_secret|password|token|access_token|refresh_token|fb_exchange_token|input_token|appsecret_proof|code_verifier|state)$/;

export interface LoggedRequest {
  readonly at: string;
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly network: string | null;
  readonly route: string | null;
  /** What was answered; null when the connection was cut or left hanging. */
  readonly status: number | null;
  readonly note: string | null;
  readonly durationMs: number;
  readonly authorization: "none" | "present";
  readonly idempotencyKey: string | null;
}

/** Path and query with the values of secrets taken out. */
export function redactedPath(path: string, query: URLSearchParams): string {
  const shown = [...query].map(([name, value]) => {
    return [name, SECRET_PARAMETERS.test(name) ? "[redacted]" : value] as [string, string];
  });
  return shown.length === 0 ? path : `${path}?${new URLSearchParams(shown).toString()}`;
}

/** The last requests, without bodies and secrets. */
export class RequestLog {
  #entries: LoggedRequest[] = [];

  add(entry: LoggedRequest): void {
    this.#entries.push(entry);
    if (this.#entries.length > ENTRIES_MAX) this.#entries = this.#entries.slice(-ENTRIES_MAX / 2);
  }

  entries(): readonly LoggedRequest[] {
    return this.#entries;
  }

  clear(): void {
    this.#entries = [];
  }
}
