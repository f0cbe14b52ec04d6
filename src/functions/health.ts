import { anyone } from "../shared/http/access/access.ts";
import {
  checkReadiness,
  health,
  readiness,
  readinessExample,
} from "../shared/http/check-readiness.ts";
import { route } from "../shared/http/route.ts";

export const healthRoutes = [
  route("GET", "health", {
    operationId: "getHealth",
    summary: "Check that the process is alive",
    description: "Checks nothing else.",
    access: anyone,
    response: health,
    examples: () => ({ answer: { status: "ok" as const } }),
    run: () => ({ status: "ok" }) as const,
  }),
  route("GET", "ready", {
    operationId: "getReadiness",
    summary: "Check that the service can work",
    description:
      "Checks storage and settings. Each process checks at most once a second and gives all callers the same result.",
    access: anyone,
    response: readiness,
    errors: ["not_ready"],
    examples: () => ({ answer: readinessExample() }),
    run: ({ services }) => checkReadiness(services),
  }),
];
