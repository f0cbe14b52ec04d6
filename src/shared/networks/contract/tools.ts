import type { HttpRequest, HttpResponse } from "../../runtime/http-call.ts";
import type { NetworkData } from "./draft.ts";
import type { NetworkApp, ServiceIdentity } from "./settings.ts";
import type { MediaFile, ImageTarget, FittedImage } from "./media.ts";

/** What the process hands to a network: it dials, stores and tells the time by these alone. */
export interface NetworkTools {
  /** There for a network that needs one: without it, none of its steps is walked. */
  readonly app: NetworkApp | undefined;
  /** What the network's people are to see of this service. */
  readonly service: ServiceIdentity;
  http(request: HttpRequest): Promise<HttpResponse>;
  now(): Date;
  /** Returns the texts (TXT) that name servers have for a name; none when they tell none in time. Never throws. */
  dnsTexts(name: string): Promise<readonly string[]>;
  /** Opens a customer's media file of at most `bytesMax`, without downloading it; throws `MediaFailure`. */
  openMedia(url: string, limits: { readonly bytesMax: number }): Promise<MediaFile>;
  /** Downloads an opened image and makes it fit; the same file always gives the same bytes. Throws `MediaFailure`. */
  fitImage(file: MediaFile, target: ImageTarget): Promise<FittedImage>;
  /** Returns an address of ours where a network finds the fitted image of `url`: public, for a little over a day. */
  fittedUrl(image: {
    readonly url: string;
    readonly target: ImageTarget;
    readonly fitted: FittedImage;
  }): string;
  /** Facts shared by all accounts of one host, e.g. a client registration; sealed at rest. */
  readonly hosts: {
    find(host: string): Promise<NetworkData | undefined>;
    save(host: string, data: NetworkData): Promise<void>;
  };
}

/** Returns the relay's registration. Generic code calls no step of a network whose app is missing. */
export function appOf({ app }: NetworkTools): NetworkApp {
  if (app === undefined) throw new Error("the network's app is not configured");
  return app;
}
