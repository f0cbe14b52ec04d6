import * as z from "zod";
import { shape } from "../runtime/shape.ts";
import {
  LEG_ERRORS,
  type LegErrorCode,
  WARNING_CODES,
  WARNING_MEANINGS,
} from "./contract/errors.ts";
import { NETWORK_NAMES } from "./names.ts";
import { wordsOfCode } from "./wording.ts";

// Safe: these are all keys of the table.
const codes = Object.keys(LEG_ERRORS) as [LegErrorCode, ...LegErrorCode[]];

export const networkName = shape(() =>
  z.enum(NETWORK_NAMES).meta({ id: "Network", description: "A social network." }),
);

export const legErrorCode = shape(() =>
  z.enum(codes).meta({
    id: "LegErrorCode",
    description: codes
      .map((code) => {
        const { message, remediation } = wordsOfCode(code);
        return `- \`${code}\`: ${message} ${remediation}`;
      })
      .join("\n"),
  }),
);

export const docAddress = shape(() =>
  z.url().describe("Link to the code's description in the reference."),
);

/** Describes the sentences of a finding or an error. */
export const sentences = () => ({
  message: z
    .string()
    .describe(
      "For the person who posts: what happened. In the language of `Accept-Language` (en, de, fr, es, pt).",
    ),
  remediation: z.string().describe("For the person who posts: what to do about it."),
  developerHint: z
    .string()
    .nullable()
    .describe("For the caller, in English: the field or setting to change. Null if there is none."),
});

/** Describes what a finding or an error is about. */
export const place = () => ({
  field: z.string().nullable().describe("Path of the request's field."),
  mediaIndex: z.int().min(0).nullable().describe("Index of the media file concerned."),
});

/** A plain list, because a generator may use one enumeration in another before it has declared it. */
export const findingCode = shape(() =>
  z.enum([...legErrorCode().options, ...WARNING_CODES]).meta({
    id: "FindingCode",
    description: [
      "A code of `LegErrorCode`, with the same meaning, or the code of a warning, which says what was changed or could not be done:",
      ...WARNING_CODES.map((code) => `- \`${code}\`: ${WARNING_MEANINGS[code]}`),
    ].join("\n"),
  }),
);

export const finding = shape(() =>
  z
    .strictObject({
      code: findingCode(),
      rule: z.string().meta({ examples: ["bluesky.text.graphemes"] }),
      ...sentences(),
      ...place(),
      docUrl: docAddress(),
    })
    .meta({
      id: "Finding",
      description: "A rule that a draft breaks, or a change that was made to a post.",
    }),
);
