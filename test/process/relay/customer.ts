import { randomBytes } from "node:crypto";
import { dataOf, eventually } from "./relay-process.ts";
import type { Answer, RelayProcess } from "./relay-process.ts";
import type { World } from "./world.ts";

const TOKENS = 1_000;

/** A platform with one application and one profile, made over the API as a customer makes them. */
export interface Customer {
  readonly platformId: string;
  readonly session: string;
  readonly applicationId: string;
  /** Secret of the application's default key. */
  readonly key: string;
  readonly profileId: string;
}

export async function aCustomer(
  relay: RelayProcess,
  { issuer }: World,
  tokens = TOKENS,
): Promise<Customer> {
  const email = `owner-${randomBytes(8).toString("hex")}@example.com`;
  const signUp = { email, password: "a password of some length", platformName: "Corner Media" };
  const { platform, token } = dataOf(await relay.call("POST", "/v1/auth/signup", { body: signUp }));
  const operator = await issuer.token({ roles: ["Admin"] });
  const credit = { platformId: platform.id, tokens, reference: `first-${platform.id}` };
  dataOf(await relay.call("POST", "/v1/billing/admin/credit", { bearer: operator, body: credit }));
  const application = dataOf(
    await relay.call("POST", "/v1/applications", { bearer: token, body: { name: "Planner" } }),
  );
  const key: string = application.apiKey.secret;
  const profile = dataOf(
    await relay.call("POST", "/v1/profiles", { bearer: key, body: { title: "Corner Bakery" } }),
  );
  return {
    platformId: platform.id,
    session: token,
    applicationId: application.id,
    key,
    profileId: profile.id,
  };
}

/** An end user's browser on the hosted page: keeps its cookies, fills in the forms that the page has. */
class Visitor {
  readonly #relay: RelayProcess;
  readonly #connectUrl: string;
  #cookie = "";

  constructor(relay: RelayProcess, connectUrl: string) {
    this.#relay = relay;
    this.#connectUrl = connectUrl;
  }

  async #go(method: string, url: string, form?: Readonly<Record<string, string>>): Promise<Answer> {
    const answer = await this.#relay.call(method, url, {
      headers: this.#cookie === "" ? {} : { cookie: this.#cookie },
      ...(form === undefined ? {} : { form }),
    });
    const [given] = answer.headers.getSetCookie();
    if (given !== undefined) this.#cookie = given.split(";", 1)[0] ?? "";
    return answer;
  }

  async page(): Promise<string> {
    const { status, body } = await this.#go("GET", this.#connectUrl);
    if (status !== 200) throw new Error(`the hosted page answered ${status}: ${body}`);
    return String(body);
  }

  /** Fills in the network's form that has these fields. The answer is a redirect where it went well. */
  async submit(network: string, typed: Readonly<Record<string, string>>): Promise<Answer> {
    const { action, fields } = formOf(await this.page(), `/ui/${network}`, Object.keys(typed));
    return await this.#go("POST", action, { ...fields, ...typed });
  }

  /** Says yes on the page of a Mastodon server of the sandbox and comes back from there. */
  async authorize(leadsTo: string): Promise<Answer> {
    const decided = await fetch(leadsTo, {
      method: "POST",
      redirect: "manual",
      body: new URLSearchParams({ decision: "allow" }),
    });
    return await this.comeBack(decided.headers.get("location") ?? "");
  }

  /** Follows the redirect of a network's own page back to ours. */
  async comeBack(location: string): Promise<Answer> {
    return await this.#go("GET", location);
  }
}

/** The form of a page whose action ends so and that has the fields, with what all its fields hold. */
function formOf(page: string, actionEnd: string, names: readonly string[]) {
  const forms = page.split(/<form\b/i).slice(1);
  for (const form of forms) {
    const action = attribute(/^[^>]*/.exec(form)?.[0] ?? "", "action");
    if (!action.endsWith(actionEnd)) continue;
    const inside = form.split(/<\/form>/i, 1)[0] ?? "";
    const inputs = [...inside.matchAll(/<input\b[^>]*>/gi)].map(([tag]) => tag);
    const fields = Object.fromEntries(
      inputs.map((tag) => [attribute(tag, "name"), attribute(tag, "value")]),
    );
    if (names.every((name) => name in fields))
      return { action, fields: fields as Record<string, string> };
  }
  throw new Error(`the hosted page has no form to ${actionEnd} with ${names.join(", ")}`);
}

function attribute(tag: string, name: string): string {
  const value = new RegExp(`\\s${name}="([^"]*)"`, "i").exec(tag)?.[1] ?? "";
  return value.replaceAll("&amp;", "&").replaceAll("&quot;", '"').replaceAll("&#39;", "'");
}

export interface ConnectVisit {
  readonly sessionId: string;
  readonly connectUrl: string;
  readonly visitor: Visitor;
}

export async function startVisit(
  relay: RelayProcess,
  { key, profileId }: Customer,
  platforms: readonly string[],
): Promise<ConnectVisit> {
  const path = `/v1/profiles/${profileId}/connect/sessions`;
  const session = dataOf(await relay.call("POST", path, { bearer: key, body: { platforms } }));
  const { id: sessionId, connectUrl } = session;
  return { sessionId, connectUrl, visitor: new Visitor(relay, connectUrl) };
}

/** Links a Bluesky account by its handle and an app password. */
export async function linkBluesky(
  relay: RelayProcess,
  customer: Customer,
  account: { readonly identifier: string; readonly appPassword: string },
): Promise<void> {
  const { visitor } = await startVisit(relay, customer, ["bluesky"]);
  await followed(await visitor.submit("bluesky", account));
}

/** Links the first account of an instance of the sandbox. */
export async function linkMastodon(
  relay: RelayProcess,
  customer: Customer,
  instance: string,
): Promise<void> {
  await linkMastodonBy(relay, customer, instance, (visitor, leads) => visitor.authorize(leads));
}

/** Links an account of a server by what its owner does on the page that ours leads to. */
export async function linkMastodonBy(
  relay: RelayProcess,
  customer: Customer,
  instance: string,
  authorize: (visitor: Visitor, leadsTo: string) => Promise<Answer>,
): Promise<void> {
  const { visitor } = await startVisit(relay, customer, ["mastodon"]);
  const leads = await followed(await visitor.submit("mastodon", { instance }));
  await followed(await authorize(visitor, leads));
}

/** Where a step of the page leads on to; the last one may end on a page instead. */
async function followed(answer: Answer): Promise<string> {
  if (answer.status !== 303 && answer.status !== 200)
    throw new Error(`a step of the hosted page answered ${answer.status}: ${answer.body}`);
  return answer.headers.get("location") ?? "";
}

export async function publish(
  relay: RelayProcess,
  { key, profileId }: Customer,
  body: Readonly<Record<string, unknown>>,
  idempotencyKey: string = randomBytes(12).toString("hex"),
): Promise<Answer> {
  const headers = { "x-profile-id": profileId, "idempotency-key": idempotencyKey };
  return await relay.call("POST", "/v1/posts", { bearer: key, headers, body });
}

export async function readPost(relay: RelayProcess, { key, profileId }: Customer, id: string) {
  const headers = { "x-profile-id": profileId };
  return dataOf(await relay.call("GET", `/v1/posts/${id}`, { bearer: key, headers }));
}

/** The post once none of its legs is on its way any more. */
export async function endedPost(
  relay: RelayProcess,
  customer: Customer,
  id: string,
  timeoutMs = 120_000,
) {
  let last: unknown;
  try {
    return await eventually(
      "the post's end",
      async () => {
        const post = await readPost(relay, customer, id);
        last = post;
        return post.status === "processing" ? undefined : post;
      },
      timeoutMs,
    );
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`${message}\n${JSON.stringify(last, null, 2)}\n${relay.output()}`, {
      cause: error,
    });
  }
}

/** The leg of a network in a post as the API shows it. */
export function legOf(
  post: { readonly legs: readonly { readonly platform: string }[] },
  network: string,
) {
  const leg = post.legs.find(({ platform }) => platform === network);
  if (leg === undefined) throw new Error(`the post has no leg for ${network}`);
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read answers field by field and assert what they find
  return leg as any;
}

export async function balanceOf(relay: RelayProcess, { key }: Customer) {
  return dataOf(await relay.call("GET", "/v1/billing/balance", { bearer: key }));
}

/** The whole ledger, oldest first. */
export async function ledgerOf(relay: RelayProcess, { session }: Customer) {
  const answer = await relay.call("GET", "/v1/billing/usage?limit=100", { bearer: session });
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read answers field by field and assert what they find
  const entries: any[] = dataOf(answer);
  if (answer.body.page.hasMore) throw new Error("the ledger does not fit on one page");
  return entries.toReversed();
}
