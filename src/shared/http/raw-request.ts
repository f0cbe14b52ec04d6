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

/** Changes parts of a request that the library can't represent, so that the route can answer it. */
export function makeRepresentable(request: RawRequest): void {
  const { headers, nullableHeaders, url } = request;
  if (typeof url === "string") {
    const parsed = URL.parse(url);
    // A client's `X-Forwarded-Proto` may have made its origin invalid.
    const path = /^[^/]*\/\/[^/]*(?<path>\/.*)$/s.exec(url)?.groups?.["path"] ?? "/";
    if (parsed === null || parsed.username !== "" || parsed.password !== "")
      request.url = `http://localhost${path}`;
  }
  for (const [name, header] of Object.entries(nullableHeaders ?? {})) {
    if (!NAME.test(name)) delete nullableHeaders?.[name];
    else if (typeof header.value === "string") header.value = representableValue(header.value);
  }
  for (const [name, value] of Object.entries(headers ?? {})) {
    if (!NAME.test(name)) delete headers?.[name];
    else if (headers) headers[name] = representableValue(value);
  }
}

/**
 * Lets requests reach their routes whatever their headers contain. The library makes a `Headers` of them before
 * handlers and hooks run. If that throws, the host answers an empty 500 and we log nothing. Call this after the first
 * function is registered, because that sets the library's model.
 */
export function keepRequestsRepresentable(): void {
  let core: CoreApi;
  try {
    // Safe: the module of this name is the worker's own, with this interface.
    core = createRequire(import.meta.url)("@azure/functions-core") as CoreApi;
  } catch {
    // No host runs the app.
    return;
  }
  const model = core.getProgrammingModel();
  if (model === undefined) return;
  const make = model.getInvocationModel.bind(model);
  model.getInvocationModel = (invocation) => {
    for (const { data } of invocation.request.inputData ?? [])
      if (data?.http) makeRepresentable(data.http);
    return make(invocation);
  };
}
