import type { HttpRequest, HttpResponse } from "../../runtime/http-call.ts";
import type { NetworkData } from "./draft.ts";
import type { NetworkApp, ServiceIdentity } from "./settings.ts";
import type { WebPage, ReadPage } from "./page-card.ts";
import type { MediaFile, ImageTarget, FittedImage } from "./media.ts";

/** What the process gives to a network. A network calls, stores and reads the time only through these. */
export interface NetworkTools {
  /** Present for a network that needs one. Without it, none of its steps is called. */
  readonly app: NetworkApp | undefined;
  /** What the network's people see of this service. */
  readonly service: ServiceIdentity;
  http(request: HttpRequest): Promise<HttpResponse>;
  now(): Date;
  /** Returns the TXT records of a name, or none when no name server answers in time. Never throws. */
  dnsTexts(name: string): Promise<readonly string[]>;
  /** Opens a customer's media file of at most `bytesMax`, without downloading it. @throws MediaFailure */
  openMedia(url: string, limits: { readonly bytesMax: number }): Promise<MediaFile>;
  /** Downloads an opened image and makes it fit. The same file always gives the same bytes. @throws MediaFailure */
  fitImage(file: MediaFile, target: ImageTarget): Promise<FittedImage>;
  /** Reads what a web page says of itself, in a process of its own. @throws MediaFailure when that takes too much */
  readPage(page: WebPage): Promise<ReadPage>;
  /**
   * Returns the address at which a network that downloads files itself gets this one: its own, or for one that was
   * uploaded here, an address in storage that is valid for a little over a day. @throws MediaFailure
   */
  addressOf(url: string): Promise<string>;
  /** Returns an address of ours with the fitted image of `url`. It is public, for a little over a day. */
  fittedUrl(image: {
    readonly url: string;
    readonly target: ImageTarget;
    readonly fitted: FittedImage;
  }): string;
  /**
   * Stores what `prepare` has made so far, so that the leg goes on from there if its process dies. Returns false when
   * another worker has the leg. Absent outside of `prepare`.
   */
  readonly keepRemote?: (remote: NetworkData) => Promise<boolean>;
  /** Data shared by all accounts of one host, such as a client registration. Sealed at rest. */
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
