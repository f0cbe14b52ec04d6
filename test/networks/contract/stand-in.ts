import { linkSite } from "../../../sandbox/links.ts";
import { matchRoute, siteOf } from "../../../sandbox/router.ts";
import { mediaSite } from "../../../sandbox/sample-media.ts";
import type { Sandbox } from "../../../sandbox/server.ts";
import type { HttpRequest } from "../../../src/shared/runtime/http-call.ts";

/** A post as a reader of the network finds it. */
export interface VisiblePost {
  readonly id: string;
  readonly url: string;
  /** How often it was changed after it was first published. */
  readonly edits: number;
  /** Below it; absent where the network has none. */
  readonly comments?: readonly { readonly id: string; readonly text: string }[];
}

/** What plays a network's part, and its troubles. */
export interface StandIn {
  /** Which step of the network's contract a call is; undefined when it goes to somebody else, as for a media file. */
  stepOf(request: HttpRequest): string | undefined;
  /** Lets the network's next call suffer this: a magic word of the sandbox, without its brackets. */
  play(fault: string): void;
  /** Takes back what was to be suffered and was not. */
  clear(): void;
  /** All that its readers can see. */
  posts(): readonly VisiblePost[];
}

/** A network of the sandbox. */
export function sandboxStandIn(sandbox: Sandbox, name: keyof Sandbox["networks"]): StandIn {
  const sites = [mediaSite, linkSite, ...Object.values(sandbox.networks)];
  return {
    stepOf({ method, url }) {
      const { hostname: host, pathname: path } = new URL(url);
      const site = siteOf(sites, host);
      if (site?.name !== name) return undefined;
      return matchRoute(site, { method, host, path })?.route.name ?? "not there";
    },
    play: (fault) => sandbox.fault(name, "*", fault),
    clear: () => sandbox.clearFaults(),
    posts: () => sandbox.posts(name),
  };
}
