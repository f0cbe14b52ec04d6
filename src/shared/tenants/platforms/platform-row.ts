import { absentIs, longText, oneOf, rowCodec, text } from "../../runtime/storage/codec.ts";

/** A platform; the partition has its id. */
export const platformRow = rowCodec("platform", {
  name: text(),
  status: oneOf(["active", "suspended"]),
  createdAt: text(),
  updatedAt: text(),
  // Absent: no application was disabled yet.
  disabled: absentIs("", longText()),
});
