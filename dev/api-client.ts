const TIMEOUT_MS = 60_000;

interface ApiRequest {
  /** An API key, a session or an operator's token. */
  readonly token?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The API said no, or nothing that makes sense. Says which call it was. */
export class ApiRefusal extends Error {
  readonly status: number;

  constructor(call: string, status: number, reason: string) {
    super(`${call} answered ${status}: ${reason}`);
    this.name = "ApiRefusal";
    this.status = status;
  }
}

export interface ApiClient {
  /** The `data` of the answer. @throws ApiRefusal */
  call(method: string, path: string, request?: ApiRequest): Promise<unknown>;
}

/** The relay as a customer's program sees it. */
export function createApiClient(baseUrl: string): ApiClient {
  return {
    async call(method, path, { token, headers, body } = {}) {
      const answer = await fetch(`${baseUrl}/${path}`, {
        method,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await answer.text();
      if (!answer.ok)
        throw new ApiRefusal(`${method} /${path}`, answer.status, text.slice(0, 1_000));
      return text === "" ? null : (JSON.parse(text) as { data: unknown }).data;
    },
  };
}
