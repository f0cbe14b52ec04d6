import type { RouteKey } from "../shared/http/route.ts";
import { routes } from "./routes.ts";
import { workers } from "./workers.ts";

/*
 * What the host must know about routes and workers. The build replaces this module with its exported values as JSON, so
 * that a start loads neither routes nor workers.
 */

export const routeKeys: readonly RouteKey[] = routes.map(({ method, path }) => ({ method, path }));

export const queues: readonly string[] = workers.map(({ queue }) => queue);
