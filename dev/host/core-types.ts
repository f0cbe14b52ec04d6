/**
 * What `@azure/functions-core` offers and asks for: the built-in module of the Functions worker, which has no package of
 * its own. https://github.com/Azure/azure-functions-nodejs-library/blob/v4.x/types-core/index.d.ts
 */

export type LogLevel =
  "trace" | "debug" | "information" | "warning" | "error" | "critical" | "none";
export type LogCategory = "user" | "system" | "customMetric";

export interface BindingInfo {
  readonly type?: string;
  readonly direction?: "in" | "out" | "inout";
  readonly [property: string]: unknown;
}

export type Bindings = Readonly<Record<string, BindingInfo>>;

/** What the library hands to `registerFunction`. */
export interface FunctionMetadata {
  readonly name: string;
  readonly functionId?: string;
  readonly bindings: Bindings;
  readonly retryOptions?: unknown;
}

/** What the worker makes of it. */
export interface RpcFunctionMetadata extends FunctionMetadata {
  readonly functionId: string;
  readonly rawBindings: readonly string[];
  readonly scriptFile: string;
}

export type FunctionCallback = (...args: unknown[]) => unknown;

export interface TypedData {
  readonly string?: string | null;
  readonly json?: string | null;
  readonly bytes?: Uint8Array | null;
  readonly stream?: Uint8Array | null;
  readonly http?: HttpData | null;
  readonly int?: number | null;
  readonly double?: number | null;
}

export interface Nullable<Value> {
  readonly value?: Value | null;
}

export interface HttpData {
  readonly method?: string | null;
  readonly url?: string | null;
  readonly headers?: Readonly<Record<string, string>> | null;
  readonly nullableHeaders?: Readonly<Record<string, Nullable<string>>> | null;
  readonly nullableParams?: Readonly<Record<string, Nullable<string>>> | null;
  readonly nullableQuery?: Readonly<Record<string, Nullable<string>>> | null;
  readonly body?: TypedData | null;
  readonly statusCode?: string | null;
  readonly cookies?: readonly HttpCookie[] | null;
  readonly enableContentNegotiation?: boolean | null;
}

export interface HttpCookie {
  readonly name?: string | null;
  readonly value?: string | null;
  readonly domain?: Nullable<string> | null;
  readonly path?: Nullable<string> | null;
  readonly expires?: Nullable<{ readonly seconds: number }> | null;
  readonly secure?: Nullable<boolean> | null;
  readonly httpOnly?: Nullable<boolean> | null;
  readonly sameSite?: "none" | "lax" | "strict" | "explicitNone" | null;
  readonly maxAge?: Nullable<number> | null;
}

export interface TraceContext {
  readonly traceParent: string;
  readonly traceState: string;
  readonly attributes: Readonly<Record<string, string>>;
}

export interface InvocationRequest {
  readonly invocationId: string;
  readonly functionId: string;
  readonly inputData: readonly { readonly name: string; readonly data: TypedData }[];
  readonly triggerMetadata: Readonly<Record<string, TypedData>>;
  readonly traceContext: TraceContext;
  readonly retryContext: undefined;
}

export interface InvocationResponse {
  readonly invocationId?: string | null;
  readonly outputData?: readonly { readonly name?: string; readonly data?: TypedData }[] | null;
  readonly returnValue?: TypedData | null;
}

type InvocationState = "preInvocationHooks" | "invocation" | "postInvocationHooks";

export interface CoreInvocationContext {
  readonly invocationId: string;
  readonly request: InvocationRequest;
  readonly metadata: RpcFunctionMetadata;
  state: InvocationState | undefined;
  log(level: LogLevel, category: LogCategory, message: string): void;
}

interface InvocationModel {
  getArguments(): Promise<{ context: unknown; inputs: unknown[] }>;
  invokeFunction(context: unknown, inputs: unknown[], callback: FunctionCallback): Promise<unknown>;
  getResponse(context: unknown, result: unknown): Promise<InvocationResponse>;
}

export interface ProgrammingModel {
  readonly name: string;
  readonly version: string;
  getInvocationModel(context: CoreInvocationContext): InvocationModel | Promise<InvocationModel>;
  getCapabilities?(
    capabilities: Record<string, string>,
  ): Record<string, string> | Promise<Record<string, string>>;
}

export type HookData = Record<string, unknown>;

export interface HookContext {
  readonly hookData: HookData;
  readonly appHookData: HookData;
}

export interface PreInvocationContext extends HookContext {
  readonly invocationContext: unknown;
  inputs: unknown[];
  functionCallback: FunctionCallback;
}

export interface PostInvocationContext extends HookContext {
  readonly invocationContext: unknown;
  readonly inputs: unknown[];
  result: unknown;
  error: unknown;
}

export type HookCallback = (context: HookContext) => unknown;
