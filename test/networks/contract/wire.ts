import {
  HttpFailure,
  type HttpRequest,
  type HttpResponse,
} from "../../../src/shared/runtime/http-call.ts";
import type { Outbound } from "../../../src/shared/runtime/outbound.ts";
import { lengthened } from "./long-text.ts";
import type { StandIn, VisiblePost } from "./stand-in.ts";
import { wronged } from "./wrong-values.ts";

/** One call of a leg to its network. */
export interface Step {
  readonly route: string;
  /** The how many-th call of the leg to this route it is, from 1 on. */
  readonly nth: number;
  readonly at: number;
}

export interface MadeStep extends Step {
  /** Whether the post could be seen once the call was over; not looked for where there is trouble. */
  readonly isVisible: boolean;
}

/** Trouble at one step of a leg. */
export interface Trouble {
  readonly step: Pick<Step, "route" | "nth">;
  /**
   * A magic word of the sandbox, without its brackets; `kill-before`, `kill-after`: the worker does not live on;
   * `stop-before`, `stop-after`: it pauses while others work, then it gets a timeout or the answer;
   * `long-answer`: what the answer says is very long, all of it, or with a number the text of that place alone;
   * `wrong-answer` and a way: it is of the wrong shape;
   * `wrong-reply`: the same, from somebody who did nothing of what was asked.
   */
  readonly fault: string;
  /** What every later call suffers; none when absent. */
  readonly afterwards?: string;
}

/** Stands between the relay and the world: counts a leg's calls to its network and brings trouble to one of them. */
export class Wire implements Outbound {
  readonly #outbound: Outbound;
  readonly #standIn: StandIn;
  readonly #now: () => number;
  #earlier: ReadonlySet<string> = new Set();
  #trouble: Trouble | undefined;
  #isTroubled = false;
  #made: MadeStep[] = [];
  /** What each route answered when all was well. */
  readonly #answers = new Map<string, HttpResponse>();
  /** How many texts the answer had that was lengthened. */
  texts = 0;
  /** Called when an answer was lengthened. */
  onLong: () => void = () => undefined;
  /** What happens while a worker pauses. */
  onStop: () => Promise<void> = () => Promise.resolve();

  constructor(outbound: Outbound, standIn: StandIn, now: () => number) {
    this.#outbound = outbound;
    this.#standIn = standIn;
    this.#now = now;
  }

  /** From here on calls are those of one leg, and posts that appear are its doing. */
  begin(trouble?: Trouble): void {
    this.rest();
    this.#earlier = new Set(this.#standIn.posts().map(({ id }) => id));
    this.#trouble = trouble;
    this.#isTroubled = false;
    this.#made = [];
  }

  /** No trouble any more. */
  rest(): void {
    this.#standIn.clear();
    this.#trouble = undefined;
  }

  get made(): readonly MadeStep[] {
    return this.#made;
  }

  /** Whether the step at which there was to be trouble was reached. */
  get isTroubled(): boolean {
    return this.#isTroubled;
  }

  /** Whether the trouble was the end of the worker. */
  get isKilled(): boolean {
    return this.#isTroubled && this.#trouble?.fault.startsWith("kill-") === true;
  }

  /** What the leg made its readers see. */
  visible(): readonly VisiblePost[] {
    return this.#standIn.posts().filter(({ id }) => !this.#earlier.has(id));
  }

  async request(request: HttpRequest) {
    return await this.#passing(request, async (fault) => {
      const [kind, how = ""] = fault?.split(" ") ?? [];
      const route = this.#standIn.stepOf(request) ?? "";
      const known = this.#answers.get(route);
      if (kind === "wrong-reply" && known !== undefined) return wronged(known, how);
      const answer = await this.#outbound.request(request);
      if (answer.status < 300) this.#answers.set(route, answer);
      if (kind === "wrong-answer") return wronged(answer, how);
      if (kind !== "long-answer") return answer;
      const long = lengthened(answer, how === "" ? undefined : Number(how));
      this.texts = long.texts;
      this.onLong();
      return long.answer;
    });
  }

  async open(request: HttpRequest) {
    return await this.#passing(request, () => this.#outbound.open(request));
  }

  browserUrl(url: string): string {
    return this.#outbound.browserUrl(url);
  }

  async close(): Promise<void> {
    await this.#outbound.close();
  }

  async #passing<T>(request: HttpRequest, send: (fault?: string) => Promise<T>): Promise<T> {
    const route = this.#standIn.stepOf(request);
    if (route === undefined) return await send();
    const nth = this.#made.filter((step) => step.route === route).length + 1;
    const step = { route, nth, at: this.#now() };
    const index = this.#made.push({ ...step, isVisible: false }) - 1;
    const fault = this.#meetTrouble(step);
    if (fault === "kill-before") throw new Error("killed before the call");
    if (fault === "stop-before") {
      await this.onStop();
      throw new HttpFailure("in_doubt", "timeout");
    }
    try {
      const answer = await send(fault);
      if (fault === "kill-after") throw new Error("killed after the call");
      if (fault === "stop-after") await this.onStop();
      return answer;
    } finally {
      const isVisible = this.#trouble === undefined && this.visible().length > 0;
      this.#made[index] = { ...step, isVisible };
    }
  }

  /** Returns what this call suffers here, and not at the network. */
  #meetTrouble({ route, nth }: Step): string | undefined {
    if (this.#trouble === undefined) return undefined;
    const { step, fault, afterwards } = this.#trouble;
    if (this.#isTroubled) {
      if (afterwards !== undefined) this.#standIn.play(afterwards);
      return undefined;
    }
    if (step.route !== route || step.nth !== nth) return undefined;
    this.#isTroubled = true;
    if (/^(?:kill|stop|long|wrong)-/.test(fault)) return fault;
    this.#standIn.play(fault);
    return undefined;
  }
}
