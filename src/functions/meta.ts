import { checkReadiness } from "../shared/accounts/check-readiness.ts";
import { anyone } from "../shared/http/access.ts";
import { route } from "../shared/http/route.ts";

export const metaRoutes = [
  route("GET", "health", {
    summary: "Whether the process is alive; asks nobody else.",
    access: anyone,
    status: 200,
    run: () => ({ status: "ok" }),
  }),
  route("GET", "ready", {
    summary: "Whether the service can do its work: storage and settings.",
    access: anyone,
    status: 200,
    run: ({ services }) => checkReadiness(services),
  }),
];
