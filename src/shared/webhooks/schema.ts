import * as z from "zod";
import { instant, instantFilter, utcDay, withOrderedRange } from "../runtime/fields.ts";
import { exampleId, isId } from "../runtime/ids.ts";
import { pageQuery } from "../runtime/page.ts";
import { shape, type ShapeOf } from "../runtime/shape.ts";
import { EVENT_TYPES } from "../events/events.ts";

const URL_CHARACTERS_MAX = 2_048;
const DESCRIPTION_CHARACTERS_MAX = 500;

const url = shape(() =>
  z
    .string()
    .min(1)
    .max(URL_CHARACTERS_MAX)
    .describe(
      "A public https URL without credentials. The host is checked again for every delivery. A local run also accepts `http://localhost` and `http://127.0.0.1`.",
    ),
);
const description = shape(() => z.string().max(DESCRIPTION_CHARACTERS_MAX).nullable());
export const eventFilter = shape(() => z.enum(["*", ...EVENT_TYPES]));
const events = shape(() =>
  z
    .array(eventFilter())
    .min(1)
    .max(EVENT_TYPES.length + 1)
    .refine((names) => new Set(names).size === names.length, {
      error: "must not repeat an event: name each once",
    })
    .meta({ description: "The events to send, or `*` for all.", uniqueItems: true }),
);

export const CreateEndpointBody = shape(() =>
  z.strictObject({
    url: url(),
    events: events().default(["*"]),
    description: description().default(null),
  }),
);
export type CreateEndpoint = ShapeOf<typeof CreateEndpointBody>;

export const UpdateEndpointBody = shape(() =>
  z.strictObject({
    url: url().optional(),
    events: events().optional(),
    description: description().optional(),
    status: z
      .enum(["active", "disabled"])
      .optional()
      .describe("`disabled`: nothing is sent, and pending deliveries end as dead."),
  }),
);
export type UpdateEndpoint = ShapeOf<typeof UpdateEndpointBody>;

export const ListEndpointsQuery = shape(() => z.strictObject(pageQuery()));
export type ListEndpoints = ShapeOf<typeof ListEndpointsQuery>;

export const ListDeliveriesQuery = shape(() =>
  withOrderedRange(
    z.strictObject({
      ...pageQuery(),
      status: z.enum(["pending", "succeeded", "dead"]).optional(),
      eventType: z.enum(EVENT_TYPES).optional(),
      from: instantFilter().optional().describe("Only those created at this time or later."),
      to: instantFilter()
        .optional()
        .describe("Only those created before. Must be later than `from`."),
    }),
  ),
);
export type ListDeliveries = ShapeOf<typeof ListDeliveriesQuery>;

export const ListEventsQuery = shape(() =>
  z.strictObject({
    ...pageQuery(),
    after: z
      .string()
      .refine((text) => isId("event", text), { error: "must be an event id (evt_…)" })
      .optional()
      .describe("The id of the last event that you have.")
      .meta({ examples: [exampleId("event")] }),
  }),
);
export type ListEvents = ShapeOf<typeof ListEventsQuery>;

export const GetStatsQuery = shape(() =>
  z
    .strictObject({
      from: utcDay().optional().describe("The first UTC day. By default, the range has 30 days."),
      to: utcDay()
        .optional()
        .describe("The last UTC day, today by default. At most 91 days after `from`."),
    })
    .refine(({ from = "", to = "" }) => !(Date.parse(from) > Date.parse(to)), {
      path: ["to"],
      error: 'must not be before "from"',
      // Also if another field is wrong.
      when: ({ value }) => typeof value === "object" && value !== null,
    }),
);
export type GetStats = ShapeOf<typeof GetStatsQuery>;

export const RedriveDeadBody = shape(() =>
  z.strictObject({
    platformId: z
      .string()
      .refine((text) => isId("platform", text), { error: "must be a platform id (plt_…)" })
      .optional(),
    webhookId: z
      .string()
      .refine((text) => isId("endpoint", text), { error: "must be a webhook id (whk_…)" })
      .optional(),
    since: instant()
      .optional()
      .describe("Only deliveries that ended as dead at this time or later."),
    cursor: z.string().max(1_000).optional().describe("`nextCursor` of the previous call."),
  }),
);
export type RedriveDead = ShapeOf<typeof RedriveDeadBody>;
