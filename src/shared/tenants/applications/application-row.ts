import { oneOf, rowCodec, text } from "../../runtime/storage/codec.ts";

/** An application; its id is in the row key. */
export const applicationRow = rowCodec("application", {
  name: text(),
  status: oneOf(["active", "disabled"]),
  createdAt: text(),
  updatedAt: text(),
});
