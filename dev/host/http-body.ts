import type { IncomingMessage } from "node:http";

export interface BodyLimits {
  /** The host's limit, which `FUNCTIONS_REQUEST_BODY_SIZE_LIMIT` changes. */
  readonly bytesMax: number;
  /** The web server's: how long a body may take before its rate is looked at, and the lowest rate from then on. */
  readonly graceMs: number;
  readonly bytesPerSecondMin: number;
  /** Bodies that are under way at a time. */
  readonly unfinishedMax: number;
  /** How long a body may be under way before it makes room for another one. */
  readonly shareMs: number;
}

/** Kestrel's limits, and a number of bodies that no honest caller on one machine has under way. */
export const BODY_LIMITS: BodyLimits = {
  bytesMax: 104_857_600,
  graceMs: 5_000,
  bytesPerSecondMin: 240,
  unfinishedMax: 500,
  shareMs: 1_000,
};

/** Status that refuses a request because of its body. */
export type BodyRefusal = 408 | 429 | 500;

interface Unfinished {
  readonly address: string;
  readonly since: number;
  cut(): void;
}

const RATE_CHECK_MS = 1_000;

/**
 * Reads bodies before a function runs, and before the request takes one of the slots that running functions share: who
 * sends an unfinished body holds a connection and nothing else.
 */
export class BodyReader {
  readonly #limits: BodyLimits;
  readonly #unfinished = new Set<Unfinished>();

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /**
   * Returns the body, or the status that refuses it. A body in chunks reaches the function empty: the host looks at
   * nothing but Content-Length. Rejects when the caller goes away.
   */
  async read(request: IncomingMessage): Promise<Buffer | BodyRefusal> {
    const declared = Number(request.headers["content-length"] ?? 0);
    if (declared > this.#limits.bytesMax) return 500;
    if (!this.#makeRoom()) return 429;
    const late = Promise.withResolvers<408>();
    const body = new PartialBody(request, declared > 0);
    const unfinished: Unfinished = {
      address: request.socket.remoteAddress ?? "",
      since: performance.now(),
      cut: () => late.resolve(408),
    };
    const checkRate = setInterval(
      () => this.#isLate(unfinished, body.received) && unfinished.cut(),
      Math.min(RATE_CHECK_MS, this.#limits.graceMs),
    );
    this.#unfinished.add(unfinished);
    try {
      return await Promise.race([body.whole, late.promise]);
    } finally {
      clearInterval(checkRate);
      this.#unfinished.delete(unfinished);
    }
  }

  #isLate({ since }: Unfinished, received: number): boolean {
    const { graceMs, bytesPerSecondMin } = this.#limits;
    const ms = performance.now() - since;
    return ms >= graceMs && received < (ms / 1_000) * bytesPerSecondMin;
  }

  /** Cuts the oldest body of the address that has the most under way. Returns whether there is room for another. */
  #makeRoom(): boolean {
    if (this.#unfinished.size < this.#limits.unfinishedMax) return true;
    const byAddress = Map.groupBy(this.#unfinished, ({ address }) => address);
    const [most] = [...byAddress.values()].toSorted((a, b) => b.length - a.length);
    const oldest = most?.[0];
    if (oldest === undefined || performance.now() - oldest.since < this.#limits.shareMs)
      return false;
    oldest.cut();
    this.#unfinished.delete(oldest);
    return true;
  }
}

/** A body of which the bytes so far are counted. */
class PartialBody {
  received = 0;
  readonly whole: Promise<Buffer>;

  constructor(request: IncomingMessage, isKept: boolean) {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => {
      this.received += chunk.length;
      if (isKept) chunks.push(chunk);
    });
    request.once("end", () => resolve(Buffer.concat(chunks)));
    request.once("error", reject);
    request.once("close", () => reject(new Error("the caller went away")));
    this.whole = promise;
    // Nobody waits for it any more once it is late.
    promise.catch(() => undefined);
  }
}
