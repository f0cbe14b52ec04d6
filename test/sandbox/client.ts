import { afterAll, beforeAll, beforeEach } from "vitest";
import { startSandbox } from "../../sandbox/server.ts";
import type { Sandbox, SandboxOptions } from "../../sandbox/server.ts";

export interface CallOptions {
  readonly method?: string;
  readonly token?: string;
  readonly json?: unknown;
  readonly form?: Readonly<Record<string, string>>;
  readonly body?: FormData | Uint8Array<ArrayBuffer>;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** The parsed body; an empty object when it is no JSON object. */
  readonly json: Readonly<Record<string, unknown>>;
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Calls the sandbox as the relay does: at its origin, with the host that was meant. `null` is a browser. */
export async function callAt(
  url: string,
  host: string | null,
  path: string,
  options: CallOptions = {},
): Promise<Reply> {
  const { method, token, json, form, body, headers } = options;
  const sent =
    json === undefined
      ? form === undefined
        ? body
        : new URLSearchParams(form)
      : JSON.stringify(json);
  const response = await fetch(url + path, {
    method: method ?? (sent === undefined ? "GET" : "POST"),
    redirect: "manual",
    signal: AbortSignal.timeout(8000),
    ...(sent === undefined ? {} : { body: sent }),
    headers: {
      ...(host === null ? {} : { "x-forwarded-host": host }),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      ...(json === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parsed(text) };
}

/** One sandbox for a test file, made again before every test. */
export function useSandbox(options: SandboxOptions = {}): {
  readonly sandbox: Sandbox;
  call(host: string | null, path: string, options?: CallOptions): Promise<Reply>;
} {
  let started: Sandbox | undefined;
  const sandbox = (): Sandbox => {
    if (started === undefined) throw new Error("the sandbox has not started");
    return started;
  };
  beforeAll(async () => {
    started = await startSandbox(options);
  });
  beforeEach(() => sandbox().reset());
  afterAll(() => started?.stop());
  return {
    get sandbox() {
      return sandbox();
    },
    call: (host, path, given) => callAt(sandbox().url, host, path, given),
  };
}
