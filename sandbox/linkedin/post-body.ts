import * as z from "zod";
import { Refusal, json, readObject } from "../exchange.ts";
import type { Exchange } from "../exchange.ts";
import { badField, linkedInRefusal } from "./errors.ts";

const Urn = z.string().regex(/^urn:li:[A-Za-z]+:[\w-]+$/);
const Media = z.strictObject({
  id: Urn,
  altText: z.string().optional(),
  title: z.string().optional(),
});
const Article = z.strictObject({
  source: z.string(),
  title: z.string(),
  description: z.string().optional(),
  thumbnail: Urn.optional(),
  thumbnailAltText: z.string().optional(),
});
const PostBody = z.strictObject({
  author: z.string(),
  commentary: z.string(),
  visibility: z.enum(["PUBLIC", "CONNECTIONS", "LOGGED_IN"]),
  distribution: z.strictObject({
    feedDistribution: z.enum(["MAIN_FEED", "NONE"]),
    targetEntities: z.array(z.unknown()).optional(),
    thirdPartyDistributionChannels: z.array(z.unknown()).optional(),
  }),
  content: z
    .strictObject({
      media: Media.optional(),
      multiImage: z
        .strictObject({
          images: z.array(Media.omit({ title: true })),
          altText: z.string().optional(),
        })
        .optional(),
      article: Article.optional(),
    })
    .optional(),
  lifecycleState: z.enum(["DRAFT", "PUBLISHED"]),
  isReshareDisabledByAuthor: z.boolean().optional(),
});
export type PostBody = z.output<typeof PostBody>;

function complaint(issue: z.core.$ZodIssue): string {
  const at = `/${issue.path.join("/")}`;
  if (issue.code === "unrecognized_keys")
    return issue.keys
      .map(
        (key) =>
          `ERROR :: ${at === "/" ? "" : at}/${key} :: unrecognized field found but not allowed`,
      )
      .join("\n");
  if (issue.message.includes("received undefined"))
    return `ERROR :: ${at} :: field is required but not found and has no default value`;
  if (issue.code === "invalid_value") return `ERROR :: ${at} :: value is not an enum symbol`;
  return `ERROR :: ${at} :: value is not of the field's type`;
}

/** A body that has exactly the fields that LinkedIn knows; refuses with every complaint at once. */
export function readPostBody(exchange: Exchange): PostBody {
  const body = readObject(exchange);
  if (body === undefined)
    throw linkedInRefusal({
      status: 400,
      code: "ILLEGAL_ARGUMENT",
      message: "Request body could not be converted to data map",
    });
  const parsed = PostBody.safeParse(body);
  if (!parsed.success) {
    const message = `${parsed.error.issues.map(complaint).join("\n")}\n`;
    throw new Refusal(json(422, { message, status: 422 }));
  }
  const { author, lifecycleState, visibility, content = {} } = parsed.data;
  if (!/^urn:li:(person|organization(?:Brand)?):[\w-]+$/.test(author))
    throw badField("author", "INVALID_URN_TYPE", "author must be a person or organization URN");
  if (lifecycleState !== "PUBLISHED")
    throw badField("lifecycleState", "INVALID_VALUE", "lifecycleState must be PUBLISHED");
  if (visibility === "CONNECTIONS" && author.startsWith("urn:li:organization:"))
    throw badField("visibility", "INVALID_VALUE", "An organization can't post to connections");
  if (Object.values(content).filter((value) => value !== undefined).length > 1)
    throw badField("content", "INVALID_VALUE", "content must be one of media, multiImage, article");
  return parsed.data;
}
