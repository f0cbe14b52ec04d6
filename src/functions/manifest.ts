import type { Endpoint } from "../shared/http/route.ts";
import { routes } from "./routes.ts";
import { workers } from "./workers.ts";

/*
 * What the host is told of routes and workers. The build puts the values of this module in its place, as JSON, so that a
 * start loads neither of them.
 */

export const endpoints: readonly Endpoint[] = routes.map(({ method, path }) => ({ method, path }));

export const queues: readonly { readonly name: string; readonly queue: string }[] = workers.map(
  ({ name, queue }) => ({ name, queue }),
);
