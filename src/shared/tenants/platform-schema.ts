import * as z from "zod";
import { count, idOf, time } from "../runtime/fields.ts";
import { exampleId } from "../runtime/ids.ts";
import { pageQuery } from "../runtime/page.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { APPLICATION_STATUSES } from "./applications/application.ts";
import type {
  ApplicationSummary,
  PlatformAccount,
  PlatformSummary,
} from "./platforms/platform-account.ts";
import { OPERATED_STATUSES, PLATFORM_STATUSES, type Platform } from "./platform.ts";

export const UpdatePlatformBody = shape(() =>
  z.strictObject({ status: z.enum(OPERATED_STATUSES) }),
);
export type UpdatePlatform = ShapeOf<typeof UpdatePlatformBody>;

/** An email has at most so many characters. */
const QUERY_LENGTH_MAX = 254;

export const ListPlatformsQuery = shape(() =>
  z.strictObject({
    ...pageQuery(),
    q: z
      .string()
      .trim()
      .min(2)
      .max(QUERY_LENGTH_MAX)
      .optional()
      .describe(
        "A platform's id, the whole email of one of its staff, or the beginning of its name. Case and accents don't matter.",
      )
      .meta({ examples: ["Example"] }),
  }),
);
export type ListPlatforms = ShapeOf<typeof ListPlatformsQuery>;

const platformFields = shape(() => ({
  id: idOf("platform"),
  name: z.string(),
  status: z.enum(PLATFORM_STATUSES),
  createdAt: time(),
  updatedAt: time(),
}));

export const platform = shape(
  () =>
    z.strictObject(platformFields()).meta({
      id: "Platform",
      description: "A paying customer of the relay.",
    }) satisfies z.ZodType<Platform>,
);

export const ClosePlatformBody = shape(() =>
  z.strictObject({
    name: z.string().max(1_000).describe("The platform's name, to confirm the request."),
  }),
);
export type ClosePlatform = ShapeOf<typeof ClosePlatformBody>;

export const closedPlatform = shape(() =>
  z
    .strictObject({
      status: z.enum(["closed"]),
      erasedAt: time().describe("Until then the operators can open the platform again."),
    })
    .meta({ id: "ClosedPlatform" }),
);

export const closedPlatformExample = (): ShapeOf<typeof closedPlatform> => ({
  status: "closed",
  erasedAt: "2026-03-11T10:00:00.000Z",
});

const walletFields = shape(() => ({
  tokenBalance: count().describe("Tokens that the platform owns."),
  tokenReserved: count().describe("Tokens reserved for legs that have not ended."),
  erasedAt: time()
    .optional()
    .describe("When everything of a closed platform is erased. Absent for others."),
}));

export const platformSummary = shape(
  () =>
    z
      .strictObject({ ...platformFields(), ...walletFields() })
      .meta({ id: "PlatformSummary" }) satisfies z.ZodType<PlatformSummary>,
);

export const applicationSummary = shape(
  () =>
    z
      .strictObject({
        id: idOf("application"),
        name: z.string(),
        status: z.enum(APPLICATION_STATUSES),
      })
      .meta({ id: "ApplicationSummary" }) satisfies z.ZodType<ApplicationSummary>,
);

export const accountFields = shape(() => ({
  ...platformFields(),
  ...walletFields(),
  applications: z.array(applicationSummary()),
  counts: z
    .strictObject({
      profiles: count(),
      activeApiKeys: count(),
      webhooks: count(),
      connections: count(),
      applications: count(),
    })
    .describe("Profiles, keys and webhooks are counted in the current application, if any."),
}));

export const platformAccount = shape(
  () =>
    z
      .strictObject(accountFields())
      .meta({ id: "PlatformAccount" }) satisfies z.ZodType<PlatformAccount>,
);

const AT = "2026-03-04T10:00:00.000Z";

export const platformExample = {
  id: exampleId("platform"),
  name: "Example Media",
  status: "active",
  createdAt: AT,
  updatedAt: AT,
} as const;

const wallet = { tokenBalance: 10_000, tokenReserved: 20 };

export const platformSummaryExample = (): ShapeOf<typeof platformSummary> => ({
  ...platformExample,
  ...wallet,
});

export const platformAccountExample = (): ShapeOf<typeof platformAccount> => ({
  ...platformExample,
  ...wallet,
  applications: [{ id: exampleId("application"), name: "Planner", status: "active" }],
  counts: { profiles: 12, activeApiKeys: 2, webhooks: 0, connections: 24, applications: 1 },
});
