export { RelayClient, type RelayOptions, type WaitOptions } from "./client.ts";
export {
  isRelayError,
  RelayConnectionError,
  RelayError,
  RelayTimeoutError,
  RelayWebhookError,
  type ErrorCode,
} from "./errors.ts";
export type { Page, RelayList } from "./list.ts";
export type {
  Answer,
  CallOptions,
  ErrorDetails,
  Input,
  OperationId,
  Post,
  Schemas,
  UploadOptions,
  WebhookEvent,
} from "./types.ts";
export { verifyWebhook, type WebhookHeaders } from "./webhook.ts";
