import type * as z from "zod";
import { exampleId } from "../runtime/ids.ts";
import type { ShapeOf } from "../runtime/shape.ts";
import type { balance, credited, ledgerEntry, limits } from "./answer-schema.ts";
import type { CreditBody } from "./schema.ts";

export const balanceExample = (): ShapeOf<typeof balance> => ({
  tokenBalance: 9_980,
  tokenReserved: 20,
  available: 9_960,
  dailyTokenBudget: 500,
  usedToday: 40,
  resetsAt: "2026-03-05T00:00:00.000Z",
});

export const limitsExample = (): ShapeOf<typeof limits> => ({
  dailyTokenBudget: 500,
  usedToday: 40,
  resetsAt: "2026-03-05T00:00:00.000Z",
  updatedAt: "2026-03-04T10:00:00.000Z",
});

export const entryExample = (): ShapeOf<typeof ledgerEntry> => ({
  id: exampleId("ledgerEntry"),
  type: "settle",
  operation: "publish_leg",
  tokens: -10,
  balanceAfter: 9_980,
  reservedAfter: 20,
  postId: exampleId("post"),
  platform: "bluesky",
  applicationId: exampleId("application"),
  profileId: exampleId("profile"),
  actor: { kind: "api_key", id: exampleId("key") },
  requestId: exampleId("request"),
  note: null,
  createdAt: "2026-03-04T10:00:02.000Z",
});

export const creditBodyExample = (): z.input<ReturnType<typeof CreditBody>> => ({
  platformId: exampleId("platform"),
  tokens: 10_000,
  note: "Invoice 2026-017",
  reference: "invoice-2026-017",
});

export const creditedExample = (): ShapeOf<typeof credited> => ({
  entry: {
    ...entryExample(),
    type: "credit",
    operation: "billing.credit",
    tokens: 10_000,
    balanceAfter: 10_000,
    reservedAfter: 0,
    postId: null,
    platform: null,
    applicationId: null,
    profileId: null,
    actor: { kind: "operator", id: "6f9a1c52-0d4e-4b1b-9a3e-1f2d3c4b5a69" },
    note: "Invoice 2026-017",
  },
  tokenBalance: 10_000,
});
