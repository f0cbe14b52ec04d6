/**
 * What `@azure/functions-core` offers and asks for, as far as this app needs it: the built-in module of the Functions
 * worker, which has no package of its own.
 * https://github.com/Azure/azure-functions-nodejs-library/blob/v4.x/types-core/index.d.ts
 */

export type LogLevel =
  "trace" | "debug" | "information" | "warning" | "error" | "critical" | "none";
export type LogCategory = "user" | "system" | "customMetric";

export interface BindingInfo {
  readonly type?: string;
  readonly direction?: "in" | "out" | "inout";
  readonly [property: string]: unknown;
}

/** What the library hands to `registerFunction`. */
export interface FunctionMetadata {
  readonly name: string;
  readonly bindings: Readonly<Record<string, BindingInfo>>;
}

export type FunctionCallback = (...args: unknown[]) => unknown;

export interface TypedData {
  readonly string?: string;
  readonly json?: string;
  readonly bytes?: Uint8Array;
  readonly http?: HttpData;
}

interface Nullable {
  readonly value: string;
}

export interface HttpData {
  readonly method?: string;
  readonly url?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly nullableHeaders?: Readonly<Record<string, Nullable>>;
  readonly nullableParams?: Readonly<Record<string, Nullable>>;
  readonly body?: TypedData | null;
  readonly statusCode?: string;
}

interface InvocationRequest {
  readonly inputData: readonly { readonly name: string; readonly data: TypedData }[];
  readonly triggerMetadata: Readonly<Record<string, TypedData>>;
  readonly traceContext: { readonly traceParent: string; readonly traceState: string };
}

export interface InvocationResponse {
  readonly returnValue?: TypedData | null;
}

interface CoreInvocationContext {
  readonly invocationId: string;
  readonly request: InvocationRequest;
  readonly metadata: FunctionMetadata;
  log(level: LogLevel, category: LogCategory, message: string): void;
}

interface InvocationModel {
  getArguments(): Promise<{ context: unknown; inputs: unknown[] }>;
  invokeFunction(context: unknown, inputs: unknown[], callback: FunctionCallback): Promise<unknown>;
  getResponse(context: unknown, result: unknown): Promise<InvocationResponse>;
}

export interface ProgrammingModel {
  getInvocationModel(context: CoreInvocationContext): InvocationModel;
}
