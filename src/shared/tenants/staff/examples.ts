import { exampleId } from "../../runtime/ids.ts";
import type { ShapeOf } from "../../runtime/shape.ts";
import type { createdPlatform, me, platformAccount, platformSummary } from "./answer-schema.ts";
import type { readiness, recoveryCodes, signedIn, totpSecret, user } from "./answer-schema.ts";
import type { ChangePassword, CreateUser, LogIn, RemoveTotp, SignUp } from "./schema.ts";

const AT = "2026-03-04T10:00:00.000Z";
const platform = {
  id: exampleId("platform"),
  name: "Example Media",
  status: "active",
  createdAt: AT,
  updatedAt: AT,
} as const;
const wallet = { tokenBalance: 10_000, tokenReserved: 20 };

export const userExample = (): ShapeOf<typeof user> => ({
  id: exampleId("user"),
  email: "owner@example.com",
  totpEnabled: false,
  createdAt: AT,
  lastLoginAt: AT,
});

export const sessionExample = (): ShapeOf<typeof signedIn> => ({
  platform,
  user: userExample(),
  token: "eyJhbGciOiJIUzI1NiIsInR5cCI6InNlc3Npb24rand0In0.eyJzdWIiOiJ1c3IifQ.signature",
  expiresIn: 43_200,
  expiresAt: "2026-03-04T22:00:00.000Z",
});

export const signUpExample = (): SignUp => ({
  email: "owner@example.com",
  password: "a password of some length",
  platformName: "Example Media",
});

export const logInExample = (): LogIn => ({
  email: "owner@example.com",
  password: "a password of some length",
  totpCode: "492039",
});

export const changePasswordExample = (): ChangePassword => ({
  currentPassword: "a password of some length",
  newPassword: "another and longer password",
});

export const createUserExample = (): CreateUser => ({
  email: "colleague@example.com",
  password: "a password of some length",
});

export const totpSecretExample = (): ShapeOf<typeof totpSecret> => ({
  secret: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
  otpauthUrl:
    "otpauth://totp/Publishing%20Relay:owner%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Publishing%20Relay&algorithm=SHA1&digits=6&period=30",
});

export const recoveryCodesExample = (): ShapeOf<typeof recoveryCodes> => ({
  recoveryCodes: [
    "7K3QM-9XW2P",
    "0FZ8T-C4HJN",
    "V6D1R-QSB5E",
    "XM29K-W7GAY",
    "3PJNT-80ZFC",
    "H5VQE-RD61B",
    "AYG4W-K27XM",
    "CT9P3-NJF0Z",
    "B8ES5-H1VQR",
    "2MWXK-7GA6D",
  ],
});

export const removeTotpExample = (): RemoveTotp => ({
  password: "a password of some length",
  code: "492039",
});

export const platformSummaryExample = (): ShapeOf<typeof platformSummary> => ({
  ...platform,
  ...wallet,
});

export const platformAccountExample = (): ShapeOf<typeof platformAccount> => ({
  ...platform,
  ...wallet,
  applications: [{ id: exampleId("application"), name: "Planner", status: "active" }],
  counts: { profiles: 12, activeApiKeys: 2, webhooks: 0, connections: 24, applications: 1 },
});

export const meExample = (): ShapeOf<typeof me> => ({
  ...platformAccountExample(),
  application: { id: exampleId("application"), name: "Planner", status: "active" },
  auth: {
    kind: "api_key",
    apiKeyId: exampleId("key"),
    userId: null,
    applicationId: exampleId("application"),
  },
});

export const createdPlatformExample = (): ShapeOf<typeof createdPlatform> => ({
  platform: { ...platformSummaryExample(), tokenBalance: 1_000, tokenReserved: 0 },
  user: { ...userExample(), lastLoginAt: null },
});

export const readinessExample = (): ShapeOf<typeof readiness> => ({
  status: "ready",
  checks: {
    tables: { status: "ok", durationMs: 4 },
    queues: { status: "ok", durationMs: 3 },
    config: { status: "ok", durationMs: 1 },
  },
});
