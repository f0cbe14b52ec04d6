import {
  absentIs,
  json,
  oneOf,
  rowCodec,
  text,
  textOrNull,
  truth,
} from "../../runtime/storage/codec.ts";
import type { EventFilter } from "./endpoint.ts";

/** A webhook endpoint with its sealed secrets; its id is in the row key. */
export const endpointRow = rowCodec("webhook endpoint", {
  applicationId: text(),
  url: text(),
  description: textOrNull(),
  events: json<readonly EventFilter[]>(),
  status: oneOf(["active", "disabled"]),
  disabledReason: textOrNull(),
  secret: text(),
  secretHint: text(),
  previousSecret: text(),
  previousSecretUntil: text(),
  createdAt: text(),
  updatedAt: text(),
  // Absent: it never failed often enough.
  isCircuitOpen: absentIs(false, truth()),
});
