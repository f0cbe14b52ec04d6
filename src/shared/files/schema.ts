import * as z from "zod";
import { pageQuery } from "../runtime/page.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { PUT_BYTES_MAX } from "../runtime/storage-account.ts";
import { FILE_STATES, FILE_TYPES } from "./file.ts";

const FILENAME_MAX = 255;

/** Refused are also marks that change the direction of text, by which "gpj.exe" is read as "exe.jpg". */
const FILENAME =
  // oxlint-disable-next-line no-control-regex -- they are what is refused
  /^[^\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069/\\]*$/;
const FILENAME_MISTAKE = "must have no control character, / or \\, and not be . or ..";

export const CreateFileBody = shape(() =>
  z.strictObject({
    contentType: z
      .enum(FILE_TYPES)
      .describe("The type of the bytes. They are refused if they are of another one."),
    bytes: z
      .int()
      .min(1)
      .max(PUT_BYTES_MAX)
      .describe(
        "How many bytes will be uploaded: exactly. The operator sets the limit, 1 GiB by default.",
      ),
    filename: z
      .string()
      .min(1)
      .max(FILENAME_MAX)
      .regex(FILENAME, FILENAME_MISTAKE)
      .refine((name) => name !== "." && name !== "..", FILENAME_MISTAKE)
      .optional()
      .describe("Shown to people, and never used as a path."),
  }),
);
export type CreateFile = ShapeOf<typeof CreateFileBody>;

export const SHOWN_STATES = FILE_STATES.filter((state) => state !== "deleted");

export const ListFilesQuery = shape(() =>
  z.strictObject({
    ...pageQuery(),
    status: z.enum(SHOWN_STATES).optional(),
    contentType: z
      .string()
      .min(1)
      .max(100)
      .optional()
      .describe("Only those whose type begins so.")
      .meta({ examples: ["image/"] }),
  }),
);
export type ListFiles = ShapeOf<typeof ListFilesQuery>;
