import type { RelayList } from "./list.ts";
import type { components } from "./made/api.ts";

/** The shapes of the API by their names in the reference, such as `Schemas["Post"]`. */
export type Schemas = Omit<components["schemas"], "Operations" | "ErrorDetails">;
type Operations = components["schemas"]["Operations"];
export type ErrorDetails = components["schemas"]["ErrorDetails"];

export type OperationId = keyof Operations;

/** The input of a call: the fields of path, query, headers and body in one object. */
export type Input<Id extends OperationId> = Operations[Id]["input"];

/** What a call returns. Of a list, one of its items. */
export type Answer<Id extends OperationId> = Operations[Id] extends { item: infer Item }
  ? Item
  : Operations[Id] extends { bytes: unknown }
    ? Uint8Array
    : "answer" extends keyof Operations[Id]
      ? Operations[Id]["answer"]
      : void;

export interface CallOptions {
  /** Ends the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Limit of the whole call, with its repeats and the waits between them. Of a list, that of each page. */
  readonly timeoutMs?: number | undefined;
}

export interface UploadOptions extends CallOptions {
  readonly profileId?: string;
  readonly profileGrant?: string;
  /** The file's type; that of the blob unless given. HEIC is also known by its name. */
  readonly contentType?: string;
  /** The file's name; that of a `File` unless given. */
  readonly filename?: string;
  /** Is called with the number of bytes that have been sent. Only pages get it in steps. */
  readonly onProgress?: (sent: number, total: number) => void;
}

/** The methods of the client: one for each operation of the API. */
export type Calls = {
  [Id in OperationId]: (
    ...args: object extends Input<Id>
      ? [input?: Input<Id>, options?: CallOptions]
      : [input: Input<Id>, options?: CallOptions]
  ) => Operations[Id] extends { item: unknown } ? RelayList<Answer<Id>> : Promise<Answer<Id>>;
};

export type Post = Schemas["Post"];

/** An event as a webhook brings it. A truncated one may lack any part of its data. */
export type WebhookEvent = Omit<Schemas["Event"], "data"> & {
  data: {
    post?: Post;
    leg?: Schemas["Leg"];
    connection?: Schemas["Connection"] & { reason?: string };
    balance?: Schemas["Balance"];
  };
};
