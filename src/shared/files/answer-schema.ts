import * as z from "zod";
import { finding } from "../networks/answer-schema.ts";
import { NETWORK_NAMES } from "../networks/names.ts";
import type { NetworkName } from "../networks/networks.ts";
import { count, idOf, time } from "../runtime/fields.ts";
import { exampleId } from "../runtime/ids.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { FILE_FAULTS } from "./file.ts";
import { SHOWN_STATES } from "./schema.ts";
import type { FileView } from "./view-file.ts";

const measured = () => z.number().min(0).nullable();

const fit = shape(() =>
  z
    .strictObject({
      ok: z.boolean().describe("Whether there is no problem."),
      problems: z.array(finding()).describe("The rules that the file breaks."),
    })
    .meta({ id: "FileFit", description: "Whether a network takes a file." }),
);

const fits = shape(() =>
  z.strictObject(
    // Safe: the keys are exactly the networks' names.
    Object.fromEntries(NETWORK_NAMES.map((name) => [name, fit()])) as Record<
      NetworkName,
      ReturnType<typeof fit>
    >,
  ),
);

const upload = shape(() =>
  z.strictObject({
    method: z.literal("PUT"),
    url: z
      .url()
      .describe("Takes the bytes once. Anyone who has it can upload this file, so keep it secret."),
    headers: z.record(z.string(), z.string()).describe("Send them unchanged."),
    expiresAt: time(),
  }),
);

export const file = shape(
  () =>
    z
      .strictObject({
        id: idOf("file"),
        profileId: idOf("profile"),
        filename: z.string().nullable(),
        status: z
          .enum(SHOWN_STATES)
          .describe(
            "`waiting`: for the upload and `complete`. `ready`: can be used in posts. `rejected`: the bytes were refused, see `problem`.",
          ),
        contentType: z.string(),
        bytes: count(),
        width: measured().describe(
          "In pixels, as displayed. Null if it has none, or before `ready`.",
        ),
        height: measured(),
        durationSeconds: measured(),
        animated: z.boolean().nullable().describe("Whether a picture moves. Null if it is none."),
        url: z.url().describe("What posts name the file by. It is not public."),
        previewUrl: z
          .url()
          .nullable()
          .describe(
            "A JPEG of at most 512 pixels, which anybody can fetch for 26 hours. Null if the file is no picture.",
          ),
        fits: fits()
          .nullable()
          .describe(
            "For each network, whether a post of this file alone could be published. Null until the file is `ready`.",
          ),
        problem: z
          .strictObject({
            code: z.literal("media_rejected"),
            reason: z
              .enum(FILE_FAULTS)
              .describe(
                "`length`: another number of bytes than announced. `type`: bytes of another type. `damaged`: of this type, and unreadable.",
              ),
            message: z.string(),
          })
          .nullable(),
        upload: upload().nullable().describe("Only in the answer of POST."),
        createdAt: time(),
        completedAt: time().nullable(),
        keptUntil: time().describe(
          "When the file is removed: 7 days after POST, or later if a post uses it.",
        ),
      })
      .meta({
        id: "File",
        description: "A file that is uploaded once and used in posts.",
      }) satisfies z.ZodType<FileView>,
);

/** The contents of `details` of `media_rejected`. */
export const rejection = shape(() =>
  z.strictObject({ reason: z.enum(FILE_FAULTS), problems: z.array(finding()) }),
);

const BASE_URL = "https://relay.example.com/api";

export const waitingFileExample = (): ShapeOf<typeof file> => ({
  id: exampleId("file"),
  profileId: exampleId("profile"),
  filename: "sourdough.jpg",
  status: "waiting",
  contentType: "image/jpeg",
  bytes: 482_113,
  width: null,
  height: null,
  durationSeconds: null,
  animated: null,
  url: `${BASE_URL}/v1/media/${exampleId("file")}/content`,
  previewUrl: null,
  fits: null,
  problem: null,
  upload: {
    method: "PUT",
    url: `https://files.example.com/media/${exampleId("platform")}/${exampleId("file")}?sp=c&sig=c2lnbmF0dXJl`,
    headers: { "content-type": "image/jpeg", "x-ms-blob-type": "BlockBlob" },
    expiresAt: "2026-03-04T10:30:00.000Z",
  },
  createdAt: "2026-03-04T10:00:00.000Z",
  completedAt: null,
  keptUntil: "2026-03-11T10:00:00.000Z",
});

export const readyFileExample = (): ShapeOf<typeof file> => ({
  ...waitingFileExample(),
  status: "ready",
  width: 1_600,
  height: 1_200,
  animated: false,
  previewUrl: `${BASE_URL}/v1/media/public/v1.k1.c2VhbGVk.dGV4dA.dGFn`,
  // Safe: each network has one.
  fits: Object.fromEntries(
    NETWORK_NAMES.map((network) => [network, { ok: true, problems: [] }]),
  ) as unknown as ShapeOf<typeof file>["fits"],
  upload: null,
  completedAt: "2026-03-04T10:00:09.000Z",
});
