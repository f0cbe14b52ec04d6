import { exampleId } from "../../runtime/ids.ts";
import type { ShapeOf } from "../../runtime/shape.ts";
import type { profile } from "./answer-schema.ts";

export const profileExample = (): ShapeOf<typeof profile> => ({
  id: exampleId("profile"),
  applicationId: exampleId("application"),
  title: "Corner Bakery",
  externalId: "customer-42",
  metadata: { plan: "pro" },
  status: "active",
  connections: [
    { platform: "bluesky", status: "active", username: "corner-bakery.example" },
    { platform: "mastodon", status: "needs_reauth", username: "bakery" },
  ],
  createdAt: "2026-03-04T10:00:00.000Z",
  updatedAt: "2026-03-04T10:00:00.000Z",
});

export const erasingExample = (): ShapeOf<typeof profile> => ({
  ...profileExample(),
  title: "Erased",
  externalId: null,
  metadata: {},
  status: "erasing",
});

export const disabledExample = (): ShapeOf<typeof profile> => ({
  ...profileExample(),
  status: "disabled",
});
