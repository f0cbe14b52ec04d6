import * as z from "zod";
import { shape, type ShapeOf } from "../../runtime/shape.ts";
import type { NoticeSettings } from "../../mail/mail.ts";

const SAID = {
  connectionNeedsReauth:
    "A network no longer accepts an account, so that its owner has to link it again.",
  endpointDisabled: "The relay disabled a webhook endpoint.",
  balanceLow: "The available tokens fell below `BALANCE_LOW_TOKENS`.",
  outcomeUnknown: "A post ended `outcome_unknown`.",
} as const;

const fields = {
  connectionNeedsReauth: () => z.boolean().describe(SAID.connectionNeedsReauth),
  endpointDisabled: () => z.boolean().describe(SAID.endpointDisabled),
  balanceLow: () => z.boolean().describe(SAID.balanceLow),
  outcomeUnknown: () => z.boolean().describe(SAID.outcomeUnknown),
};

export const notices = shape(
  () =>
    z
      .strictObject({
        connectionNeedsReauth: fields.connectionNeedsReauth(),
        endpointDisabled: fields.endpointDisabled(),
        balanceLow: fields.balanceLow(),
        outcomeUnknown: fields.outcomeUnknown(),
      })
      .meta({
        id: "Notices",
        description: "The notices that the platform's owners get by email.",
      }) satisfies z.ZodType<NoticeSettings>,
);

export const noticesExample = (): ShapeOf<typeof notices> => ({
  connectionNeedsReauth: true,
  endpointDisabled: true,
  balanceLow: false,
  outcomeUnknown: true,
});

export const UpdateNoticesBody = shape(() =>
  z.strictObject({
    connectionNeedsReauth: fields.connectionNeedsReauth().optional(),
    endpointDisabled: fields.endpointDisabled().optional(),
    balanceLow: fields.balanceLow().optional(),
    outcomeUnknown: fields.outcomeUnknown().optional(),
  }),
);
export type UpdateNotices = ShapeOf<typeof UpdateNoticesBody>;
