import { longJson, rowCodec, text, textOrNull } from "../../runtime/storage/codec.ts";

/** A profile; its id is in the row key. */
export const profileRow = rowCodec("profile", {
  applicationId: text(),
  title: text(),
  externalId: textOrNull(),
  metadata: longJson<Readonly<Record<string, string>>>(),
  status: text(),
  createdAt: text(),
  updatedAt: text(),
});
