import { createHmac, timingSafeEqual } from "node:crypto";
import type { Random } from "../../model/random.ts";
import { startReceiver } from "../../webhooks/receiver.ts";
import type { Received, Receiver } from "../../webhooks/receiver.ts";

const FAILING = 0.08;
const HANGING = 0.02;
const SKEW_SECONDS_MAX = 300;

/** What came of one event at one receiver. */
export interface Arrival {
  calls: number;
  /** Calls that were answered with a success, which the sender may not have lived to hear. */
  taken: number;
  readonly bodies: Set<string>;
}

function isSame(left: string, right: string): boolean {
  const [one, other] = [Buffer.from(left), Buffer.from(right)];
  return one.length === other.length && timingSafeEqual(one, other);
}

/** Whether a call was signed just now, as receivers are told to ask against replays. */
function isFresh({ headers }: Received): boolean {
  const secondsAgo = Date.now() / 1000 - Number(headers["webhook-timestamp"]);
  return Math.abs(secondsAgo) <= SKEW_SECONDS_MAX;
}

/** Written after the documentation for receivers, not after the product's code: both forms have to hold. */
export function isSignedWith(secret: string, { headers, body }: Received): boolean {
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const header = (name: string) => String(headers[name] ?? "");
  const time = header("webhook-timestamp");
  const standard = createHmac("sha256", key)
    .update(`${header("webhook-id")}.${time}.${body}`)
    .digest("base64");
  const plain = createHmac("sha256", key).update(`${time}.${body}`).digest("hex");
  return (
    isSame(header("webhook-signature"), `v1,${standard}`) &&
    isSame(header("x-social-restapi-signature"), `t=${time},v1=${plain}`)
  );
}

/** The customers' receivers: some calls they refuse, to some they never answer. */
export class Receivers {
  readonly #receiver: Receiver;
  readonly #random: Random;
  readonly #arrivals = new Map<string, Map<string, Arrival>>();
  readonly violations: string[] = [];
  calls = 0;
  /** From now on every call is answered with a success. */
  isCalm = false;

  private constructor(receiver: Receiver, random: Random) {
    this.#receiver = receiver;
    this.#random = random;
  }

  static async start(random: Random): Promise<Receivers> {
    return new Receivers(await startReceiver(), random);
  }

  /** Hosts that stand in for the receivers' own. */
  get hosts(): Readonly<Record<string, string>> {
    return { [new URL(this.urlOf("")).host]: `http://127.0.0.1:${this.#receiver.port}` };
  }

  urlOf(path: string): string {
    return this.#receiver.url(path);
  }

  /** What arrived at a path so far, by the event's id. */
  arrivals(path: string): ReadonlyMap<string, Arrival> {
    return this.#arrivals.get(path) ?? new Map<string, Arrival>();
  }

  listen(path: string, secret: string): void {
    const arrivals = new Map<string, Arrival>();
    this.#arrivals.set(path, arrivals);
    this.#receiver.behave(path, (outgoing, received) => {
      this.calls += 1;
      const id = String(received.headers["webhook-id"]);
      if (!isFresh(received) || !isSignedWith(secret, received))
        this.violations.push(`a call of ${path} with the webhook-id ${id} was not signed`);
      const arrival = arrivals.get(id) ?? { calls: 0, taken: 0, bodies: new Set<string>() };
      arrivals.set(id, arrival);
      arrival.calls += 1;
      arrival.bodies.add(received.body);
      if (!this.isCalm && this.#random.chance(HANGING)) return;
      if (!this.isCalm && this.#random.chance(FAILING)) return void outgoing.writeHead(500).end();
      arrival.taken += 1;
      outgoing.end("ok");
    });
  }

  stop(): Promise<void> {
    return this.#receiver.stop();
  }
}
