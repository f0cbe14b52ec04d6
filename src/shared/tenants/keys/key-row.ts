import {
  absentIs,
  longJson,
  oneOf,
  rowCodec,
  text,
  textOrNull,
} from "../../runtime/storage/codec.ts";

/** An API key, as it is authenticated; the partition has its id. */
export const keyRow = rowCodec("API key", {
  platformId: text(),
  applicationId: text(),
  name: text(),
  scope: oneOf(["app_admin", "restricted"]),
  allowedProfileIds: longJson<readonly string[]>(),
  keyPrefix: text(),
  keyHash: text(),
  // Absent: the hash's key is the pepper itself, as in version 0.2.0.
  keyDerivation: absentIs("", text()),
  status: oneOf(["active", "revoked"]),
  expiresAt: textOrNull(),
  createdAt: text(),
  // Absent: version 0.2.0 did not note who made a key.
  creatorKind: absentIs("", text()),
  creatorId: absentIs("", text()),
});
