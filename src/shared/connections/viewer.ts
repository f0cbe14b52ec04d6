import type { Viewer } from "./connection-event.ts";
import type { ViewDeps } from "./view-connection.ts";

/** Creates what shows an account as it was linked. Its code is loaded then: it brings along every network. */
export const createViewer =
  (deps: ViewDeps): Viewer =>
  async (account) => {
    const { viewerOf } = await import("./view-connection.ts");
    return await viewerOf(deps, account);
  };
