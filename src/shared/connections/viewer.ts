import type { Viewer } from "./connection-event.ts";
import type { ViewDeps } from "./view-connection.ts";

/** Creates the function that shows an account as it was linked. It loads its code, and with it all networks, on use. */
export const createViewer =
  (deps: ViewDeps): Viewer =>
  async (account) => {
    const { viewerOf } = await import("./view-connection.ts");
    return await viewerOf(deps, account);
  };
