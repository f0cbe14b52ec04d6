import type { Answer } from "../setup/relay.ts";
import type { World } from "./world.ts";

export interface Form {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

const NAMED = /&(amp|lt|gt|quot|#39);/g;
const CHARACTERS: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  "#39": "'",
};

function decoded(text: string): string {
  return text.replace(NAMED, (_whole, name: string) => CHARACTERS[name] ?? "");
}

function attribute(tag: string, name: string): string {
  return decoded(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? "");
}

/** The forms of a page with their inputs, read as a browser would. */
export function formsOf(page: string): Form[] {
  return [...page.matchAll(/<form\b[^>]*>[\s\S]*?<\/form>/g)].map(([form]) => ({
    action: attribute(form, "action"),
    fields: Object.fromEntries(
      [...form.matchAll(/<input\b[^>]*>/g)].map(([tag]) => [
        attribute(tag, "name"),
        attribute(tag, "value"),
      ]),
    ),
  }));
}

/** Text that a reader of the page sees. */
export function readable(page: string): string {
  const body = page.replace(/<style[\s\S]*?<\/style>/g, "").replace(/<[^>]*>/g, " ");
  return decoded(body).replace(/\s+/g, " ").trim();
}

/** An end user's browser: keeps the cookie, sends the headers that browsers send. */
export class Browser {
  cookie: string | undefined;
  readonly #world: Pick<World, "page">;

  constructor(world: Pick<World, "page">) {
    this.#world = world;
  }

  async get(address: string): Promise<Answer> {
    return this.#kept(await this.#world.page("GET", address, { headers: this.#headers("none") }));
  }

  async post(address: string, form: Readonly<Record<string, string>>): Promise<Answer> {
    const headers = this.#headers("same-origin");
    return this.#kept(await this.#world.page("POST", address, { headers, form }));
  }

  /** Fills in the network's form of the page that has such fields, else its first one, and sends it. */
  async submit(
    page: Answer,
    network: string,
    typed: Readonly<Record<string, string>>,
  ): Promise<Answer> {
    const forms = formsOf(page.body).filter(({ action }) => action.endsWith(`/${network}`));
    const fitting = forms.find(({ fields }) => Object.keys(typed).every((name) => name in fields));
    const form = fitting ?? forms[0];
    if (form === undefined) throw new Error(`the page has no form for ${network}`);
    return await this.post(form.action, { ...form.fields, ...typed });
  }

  /** Goes to where the answer leads. */
  async follow(answer: Answer): Promise<Answer> {
    return await this.get(locationOf(answer));
  }

  #headers(site: string): Record<string, string> {
    return {
      "sec-fetch-site": site,
      ...(this.cookie === undefined ? {} : { cookie: `other=1; ${this.cookie}` }),
    };
  }

  #kept(answer: Answer): Answer {
    const set = answer.headers.get("set-cookie");
    if (set !== null) this.cookie = set.split(";")[0];
    return answer;
  }
}

export function locationOf(answer: Answer): string {
  const location = answer.headers.get("location");
  if (answer.status !== 303 || location === null)
    throw new Error(`no redirect but ${answer.status}: ${readable(answer.body)}`);
  return location;
}

/** What the user decides on the network's own page; answers where that leads to. */
export async function decide(authorizePage: string, decision: "allow" | "deny"): Promise<string> {
  const answer = await fetch(authorizePage, {
    method: "POST",
    redirect: "manual",
    body: new URLSearchParams({ decision }),
  });
  return answer.headers.get("location") ?? `no redirect but ${answer.status}`;
}
