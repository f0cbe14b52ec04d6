import * as z from "zod";
import { imageFactsShape } from "../media/file-job.ts";
import { timeOfId } from "../runtime/ids.ts";
import { shape } from "../runtime/shape.ts";
import {
  json,
  jsonOrNull,
  oneOf,
  type Reader,
  rowCodec,
  text,
  textOrNull,
  truth,
} from "../runtime/storage/codec.ts";
import type { Row, StoredRow } from "../runtime/storage/row.ts";
import {
  type AnnouncedFile,
  FILE_STATES,
  type UploadedFile,
  type FileFault,
  type StoredFacts,
} from "./file.ts";

const announcedForm = shape((): z.ZodType<AnnouncedFile> =>
  z.looseObject({
    contentType: z.string(),
    bytes: z.number(),
    filename: z.string().nullable(),
  }),
);

const measure = () => z.number().nullable();

const factsForm = shape(
  () =>
    z.looseObject({
      contentType: z.string(),
      size: z.number(),
      width: measure(),
      height: measure(),
      durationSeconds: measure(),
      image: z.looseObject(imageFactsShape().shape).nullable(),
      isMoving: z.boolean().optional(),
      needsPassword: z.boolean().optional(),
      pages: z.number().optional(),
      isDynamicForm: z.boolean().optional(),
      film: z
        .looseObject({
          isEncrypted: z.boolean(),
          frameRate: measure(),
          bitRate: measure(),
          chroma: z.string().nullable(),
          h264Bits: measure(),
          isCut: z.boolean(),
        })
        .optional(),
      // Safe: absent fields stay absent in JSON, and are never stored as undefined.
    }) as unknown as z.ZodType<StoredFacts>,
);

export const fileRow = rowCodec("file", {
  applicationId: text(),
  state: oneOf(FILE_STATES),
  announced: json(announcedForm),
  etag: textOrNull(),
  facts: jsonOrNull(factsForm),
  fault: textOrNull<FileFault>(),
  createdAt: text(),
  completedAt: textOrNull(),
  keptUntil: text(),
  isUsed: truth(),
});

/** Lists the files of an application, which are spread over its profiles. */
export const listedFileRow = rowCodec("file of an application", {
  profileId: text(),
  contentType: text(),
});

/** What the files of a platform take together, and how many wait for their upload. */
export interface FileCounts {
  readonly bytes: number;
  readonly waiting: number;
}

const countsForm = shape((): z.ZodType<FileCounts> =>
  z.looseObject({ bytes: z.number(), waiting: z.number() }),
);
/** The counts are JSON, because bytes are more than a number column takes. */
export const fileCountsRow = rowCodec("counts of files", { files: json(countsForm) });

export const filePrefix = (profileId: string) => `B|${profileId}|`;
export const listedFilePrefix = (applicationId: string) => `BA|${applicationId}|`;

/** Decodes a file's row, whose key names the profile and the file. @throws DamagedRow */
export function toFile(platformId: string, row: Row, reader?: Reader): UploadedFile {
  const [, profileId = "", , id = ""] = row.rowKey.split("|");
  return { ...fileRow.decode(row, reader), id, platformId, profileId };
}

export function toFileCounts(stored: StoredRow | undefined): FileCounts {
  return stored === undefined ? { bytes: 0, waiting: 0 } : fileCountsRow.decode(stored.row).files;
}

/** Returns when a file was made, by its id. */
export const fileTime = (fileId: string) => timeOfId("file", fileId);
