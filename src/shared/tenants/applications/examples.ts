import { exampleId } from "../../runtime/ids.ts";
import type { ShapeOf } from "../../runtime/shape.ts";
import type { application, applicationCreated } from "./answer-schema.ts";

const AT = "2026-03-04T10:00:00.000Z";

export const applicationExample = (): ShapeOf<typeof application> => ({
  id: exampleId("application"),
  name: "Planner",
  status: "active",
  createdAt: AT,
  updatedAt: AT,
});

export const applicationCreatedExample = (): ShapeOf<typeof applicationCreated> => ({
  ...applicationExample(),
  apiKey: {
    id: exampleId("key"),
    name: "Planner default",
    keyPrefix: "sk_live_01M7W9E6",
    scope: "app_admin",
    applicationId: exampleId("application"),
    secret: "sk_live_01M7W9E67FZ0MY7YCJ6NF25H01_theSecretPartThatIsShownOnce_000000",
  },
});
