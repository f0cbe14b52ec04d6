import type * as z from "zod";
import { exampleId } from "../ids.ts";
import type { createdPlatform, me, platformAccount, platformSummary } from "./answer-schema.ts";
import type { readiness, signedIn, user } from "./answer-schema.ts";

type Answer<Schema extends () => z.ZodType> = z.output<ReturnType<Schema>>;

const AT = "2026-03-04T10:00:00.000Z";
const platform = {
  id: exampleId("platform"),
  name: "Example Media",
  status: "active",
  createdAt: AT,
  updatedAt: AT,
} as const;
const wallet = { tokenBalance: 10_000, tokenReserved: 20 };

export const userExample = (): Answer<typeof user> => ({
  id: exampleId("user"),
  email: "owner@example.com",
  totpEnabled: false,
  createdAt: AT,
  lastLoginAt: AT,
});

export const sessionExample = (): Answer<typeof signedIn> => ({
  platform,
  user: userExample(),
  token: "eyJhbGciOiJIUzI1NiIsInR5cCI6InNlc3Npb24rand0In0.eyJzdWIiOiJ1c3IifQ.signature",
  expiresIn: 43_200,
  expiresAt: "2026-03-04T22:00:00.000Z",
});

export const platformSummaryExample = (): Answer<typeof platformSummary> => ({
  ...platform,
  ...wallet,
});

export const platformAccountExample = (): Answer<typeof platformAccount> => ({
  ...platform,
  ...wallet,
  applications: [{ id: exampleId("application"), name: "Planner", status: "active" }],
  counts: { profiles: 12, activeApiKeys: 2, webhooks: 0, connections: 24, applications: 1 },
});

export const meExample = (): Answer<typeof me> => ({
  ...platformAccountExample(),
  application: { id: exampleId("application"), name: "Planner", status: "active" },
  auth: {
    kind: "api_key",
    apiKeyId: exampleId("key"),
    userId: null,
    applicationId: exampleId("application"),
  },
});

export const createdPlatformExample = (): Answer<typeof createdPlatform> => ({
  platform: { ...platformSummaryExample(), tokenBalance: 1_000, tokenReserved: 0 },
  user: { ...userExample(), lastLoginAt: null },
});

export const readinessExample = (): Answer<typeof readiness> => ({
  status: "ready",
  checks: {
    tables: { status: "ok", durationMs: 4 },
    queues: { status: "ok", durationMs: 3 },
    config: { status: "ok", durationMs: 1 },
  },
});
