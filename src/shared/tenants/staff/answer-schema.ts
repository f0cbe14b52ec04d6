import * as z from "zod";
import { APPLICATION_STATUSES } from "../applications/application.ts";
import { count, idOf, time } from "../../runtime/fields.ts";
import { shape } from "../../runtime/shape.ts";
import type { Readiness } from "../platforms/check-readiness.ts";
import type { RecoveryCodes } from "./confirm-totp.ts";
import type { Me } from "../platforms/get-me.ts";
import type {
  ApplicationSummary,
  PlatformAccount,
  PlatformSummary,
} from "../platforms/platform-account.ts";
import { PLATFORM_STATUSES, type Platform } from "../platforms/platform.ts";
import type { SignedIn } from "./sign-up.ts";
import type { TotpSecret } from "./start-totp.ts";
import type { UserView } from "./user.ts";

const checkResult = shape(() =>
  z.strictObject({ status: z.enum(["ok", "failed"]), durationMs: count() }),
);

/** The checks of `GET /ready`, of its 503 too. */
export const readinessChecks = shape(() =>
  z.strictObject({ tables: checkResult(), queues: checkResult(), config: checkResult() }),
);

export const readiness = shape(
  () =>
    z.strictObject({ status: z.literal("ready"), checks: readinessChecks() }).meta({
      id: "Readiness",
    }) satisfies z.ZodType<Readiness>,
);

export const health = shape(() =>
  z.strictObject({ status: z.literal("ok") }).meta({ id: "Health" }),
);

export const user = shape(
  () =>
    z
      .strictObject({
        id: idOf("user"),
        email: z.string(),
        totpEnabled: z.boolean(),
        createdAt: time(),
        lastLoginAt: time().nullable(),
      })
      .meta({
        id: "User",
        description: "A member of a platform's staff.",
      }) satisfies z.ZodType<UserView>,
);

const platformFields = shape(() => ({
  id: idOf("platform"),
  name: z.string(),
  status: z.enum(PLATFORM_STATUSES),
  createdAt: time(),
  updatedAt: time(),
}));

const platform = shape(
  () =>
    z.strictObject(platformFields()).meta({
      id: "Platform",
      description: "A paying customer of the relay.",
    }) satisfies z.ZodType<Platform>,
);

export const signedIn = shape(
  () =>
    z
      .strictObject({
        token: z.string().describe("Sent as `Authorization: Bearer …` until it expires."),
        expiresIn: count().describe("Seconds."),
        expiresAt: time(),
        user: user(),
        platform: platform(),
      })
      .meta({ id: "Session", description: "A dashboard session." }) satisfies z.ZodType<SignedIn>,
);

export const totpSecret = shape(
  () =>
    z
      .strictObject({
        secret: z.string().describe("Base32, for typing it into an authenticator app."),
        otpauthUrl: z.string().describe("The same and more, for a QR code."),
      })
      .meta({ id: "TotpSecret" }) satisfies z.ZodType<TotpSecret>,
);

export const recoveryCodes = shape(
  () =>
    z
      .strictObject({ recoveryCodes: z.array(z.string()).readonly() })
      .meta({ id: "RecoveryCodes" }) satisfies z.ZodType<RecoveryCodes>,
);

const walletFields = shape(() => ({
  tokenBalance: count().describe("Tokens that the platform owns."),
  tokenReserved: count().describe("The part of them that is promised to legs on their way."),
}));

export const platformSummary = shape(
  () =>
    z
      .strictObject({ ...platformFields(), ...walletFields() })
      .meta({ id: "PlatformSummary" }) satisfies z.ZodType<PlatformSummary>,
);

const applicationSummary = shape(
  () =>
    z
      .strictObject({
        id: idOf("application"),
        name: z.string(),
        status: z.enum(APPLICATION_STATUSES),
      })
      .meta({ id: "ApplicationSummary" }) satisfies z.ZodType<ApplicationSummary>,
);

const accountFields = shape(() => ({
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

export const me = shape(
  () =>
    z
      .strictObject({
        ...accountFields(),
        application: applicationSummary()
          .nullable()
          .describe("The key's own, or the one that X-Application-Id names."),
        auth: z.strictObject({
          kind: z.enum(["api_key", "session"]),
          apiKeyId: idOf("key").nullable(),
          userId: idOf("user").nullable(),
          applicationId: idOf("application").nullable(),
        }),
      })
      .meta({
        id: "Me",
        description: "The caller's platform, and who the caller is.",
      }) satisfies z.ZodType<Me>,
);

export const createdPlatform = shape(() =>
  z.strictObject({ platform: platformSummary(), user: user() }).meta({ id: "PlatformCreated" }),
);
