import { createRequire } from "node:module";

interface RawValue {
  value?: string | null;
}

/** The parts of a request that are changed here, as the host hands it to the functions library. */
export interface RawRequest {
  url?: string | null;
  readonly headers?: Record<string, string> | null;
  readonly nullableHeaders?: Record<string, RawValue> | null;
}

interface RawInvocation {
  readonly request: {
    readonly inputData?: readonly {
      readonly data?: { readonly http?: RawRequest | null } | null;
    }[];
  };
}

interface ProgrammingModel {
  getInvocationModel(invocation: RawInvocation): unknown;
}

interface CoreApi {
  getProgrammingModel(): ProgrammingModel | undefined;
}

/** What `Headers` accepts as a name. */
const NAME = /^[!#$%&'*+.^_`|~\w-]+$/;
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

/**
 * Returns the value byte for byte, as servers in Node usually see it. The host reads the bytes as UTF-8, and `Headers`
 * accepts no character beyond Latin-1. None of our headers allows such a character in either form.
 */
function representableValue(value: string): string {
  if (VALUE.test(value)) return value;
  const bytes = Buffer.from(value, "utf8").toString("latin1");
  // oxlint-disable-next-line no-control-regex -- the characters that `Headers` refuses
  return bytes.replace(/[\0\r\n]/g, " ");
}

/** Returns the URL, with another origin if a client's `X-Forwarded-Proto` has made it invalid. */
function representableUrl(url: string): string {
  if (URL.canParse(url) && new URL(url).username === "" && new URL(url).password === "") return url;
  const path = /^[^/]*\/\/[^/]*(?<path>\/.*)$/s.exec(url)?.groups?.["path"] ?? "/";
  return `http://localhost${path}`;
}

/** Changes parts of a request that the library can't represent, so that the route can answer it. */
export function makeRepresentable(request: RawRequest): void {
  if (typeof request.url === "string") request.url = representableUrl(request.url);
  const { headers, nullableHeaders } = request;
  for (const [name, header] of Object.entries(nullableHeaders ?? {})) {
    if (!NAME.test(name)) delete nullableHeaders?.[name];
    else if (typeof header.value === "string") header.value = representableValue(header.value);
  }
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (!NAME.test(name)) delete headers?.[name];
    else if (headers) headers[name] = representableValue(value);
  }
}

/** Returns what the host's worker offers to the library, or undefined when no host runs the app. */
function coreApi(): CoreApi | undefined {
  try {
    // Safe: the module of this name is the worker's own, with this interface.
    return createRequire(import.meta.url)("@azure/functions-core") as CoreApi;
  } catch {
    return undefined;
  }
}

/**
 * Lets requests reach their routes whatever their headers contain. The library makes a `Headers` of them before
 * handlers and hooks run. If that throws, the host answers an empty 500 and we log nothing. Call this after the first
 * function is registered, because that sets the library's model.
 */
export function keepRequestsRepresentable(): void {
  const model = coreApi()?.getProgrammingModel();
  if (model === undefined) return;
  const make = model.getInvocationModel.bind(model);
  model.getInvocationModel = (invocation) => {
    for (const { data } of invocation.request.inputData ?? [])
      if (data?.http) makeRepresentable(data.http);
    return make(invocation);
  };
}
