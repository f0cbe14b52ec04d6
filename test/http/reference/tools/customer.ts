/**
 * A customer's program, written against nothing but the generated client beside it. It is type checked and run by
 * `client.test.ts`, which reads what it prints.
 */
import createClient, { type Middleware } from "openapi-fetch";
import type { components, paths } from "./api.ts";

interface Setup {
  readonly baseUrl: string;
  readonly operatorToken: string;
  /** A key of an application whose profile has linked accounts. */
  readonly publisher: { readonly key: string; readonly profileId: string };
}

const setup = JSON.parse(process.argv[2] ?? "{}") as Setup;

function clientOf(token?: string) {
  const client = createClient<paths>({ baseUrl: setup.baseUrl });
  const authorize: Middleware = {
    onRequest: ({ request }) => {
      if (token !== undefined) request.headers.set("authorization", `Bearer ${token}`);
    },
  };
  client.use(authorize);
  return client;
}

function must<T>(answer: { readonly data?: T; readonly error?: unknown }): T {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error));
  return answer.data;
}

async function becomeCustomer() {
  const body = {
    email: `generated-${Date.now()}@example.com`,
    password: "a password of some length",
    platformName: "Generated client",
  };
  const signedUp = must(await clientOf().POST("/v1/auth/signup", { body })).data;
  const credited = await clientOf(setup.operatorToken).POST("/v1/billing/admin/credit", {
    body: { platformId: signedUp.platform.id, tokens: 500 },
  });
  const created = await clientOf(signedUp.token).POST("/v1/applications", {
    body: { name: "Planner", createDefaultKey: true },
  });
  const { apiKey } = must(created).data;
  if (apiKey === null) throw new Error("no key came with the application");
  return { balance: must(credited).data.tokenBalance, key: apiKey.secret };
}

async function profilesOf(key: string) {
  const client = clientOf(key);
  const externalIds = ["one", "two", "three", "four", "five"];
  for (const externalId of externalIds)
    must(await client.POST("/v1/profiles", { body: { title: `Shop ${externalId}`, externalId } }));
  const seen: (string | null)[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 2, ...(cursor === undefined ? {} : { cursor }) };
    const { data, page } = must(await client.GET("/v1/profiles", { params: { query } }));
    seen.push(...data.map(({ externalId }) => externalId));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  return seen;
}

type Schemas = components["schemas"];

/** Errors by their code, each with the details that its schema describes. */
interface ByCode {
  readonly conflict: Schemas["ConflictError"];
  readonly not_publishable: Schemas["NotPublishableError"];
  readonly validation_failed: Schemas["ValidationFailedError"];
}

function detailsOf<Code extends keyof ByCode>(code: Code, answer?: Schemas["Error"]) {
  const error = answer?.error;
  // Safe: a code always comes with these details.
  return error?.code === code ? (error.details as ByCode[Code]["error"]["details"]) : undefined;
}

/** What a program can do with an error: its code decides what else there is. */
async function errorsOf(key: string) {
  const client = clientOf(key);
  const body = { title: "Shop one again", externalId: "one" };
  const { error: taken } = await client.POST("/v1/profiles", { body });
  const existingId = detailsOf("conflict", taken)?.existingId;

  const { data: profiles } = must(await client.GET("/v1/profiles", {}));
  const header = {
    "X-Profile-Id": profiles[0]?.id ?? "",
    "Idempotency-Key": "nothing-is-linked-here",
  };
  const { error: refused } = await client.POST("/v1/posts", {
    params: { header },
    body: { text: "Hello", platforms: ["bluesky"] },
  });
  const unfit = detailsOf("not_publishable", refused);
  const reason = unfit?.platforms.bluesky?.errors[0]?.code;

  const { error: invalid } = await client.POST("/v1/profiles", { body: { title: "" } });
  const wrong = detailsOf("validation_failed", invalid);
  const paths = wrong?.issues.map(({ path }) => path) ?? [];
  return { existingId, reason, paths };
}

async function publish() {
  const { key, profileId } = setup.publisher;
  const client = clientOf(key);
  const header = { "X-Profile-Id": profileId, "Idempotency-Key": `generated-${Date.now()}` };
  const body: components["schemas"]["PostRequest"] = {
    text: `Hello from a generated client ${Date.now()}`,
    platforms: ["bluesky", "mastodon"],
    platformOptions: { mastodon: { visibility: "unlisted" } },
  };
  const first = await client.POST("/v1/posts", { params: { header }, body });
  const again = await client.POST("/v1/posts", { params: { header }, body });
  const accepted = must(first).data;
  let post: components["schemas"]["Post"] = accepted;
  for (let round = 0; round < 50 && post.status === "processing"; round += 1) {
    const path = { postId: accepted.id };
    const read = await client.GET("/v1/posts/{postId}", {
      params: { path, header: { "X-Profile-Id": profileId } },
    });
    post = must(read).data;
  }
  return {
    status: first.response.status,
    replayed: again.response.headers.get("idempotent-replayed"),
    same: must(again).data.id === accepted.id,
    ended: post.status,
    urls: post.legs.map(({ url }) => url),
  };
}

/** Never called: the compiler judges it. */
export async function mistakes() {
  const client = clientOf();
  // @ts-expect-error -- a field that no request has
  const shop: components["schemas"]["CreateProfileRequest"] = { title: "Shop", colour: "red" };
  // @ts-expect-error -- a post without the headers that it needs
  await client.POST("/v1/posts", { body: { text: "Hello", platforms: ["bluesky"] } });
  // @ts-expect-error -- a network that there is not
  const draft: components["schemas"]["PostRequest"] = { platforms: ["myspace"] };
  // @ts-expect-error -- a path that there is not
  await client.GET("/v1/nothing", {});
  const { data, error } = await client.GET("/v1/billing/balance", {});
  // @ts-expect-error -- a field that no balance has
  void [shop, draft, data?.data.euros];
  // @ts-expect-error -- a code that there is not
  return error?.error.code === "duplicated";
}

const customer = await becomeCustomer();
const report = {
  balance: customer.balance,
  profiles: await profilesOf(customer.key),
  errors: await errorsOf(customer.key),
  post: await publish(),
};
process.stdout.write(JSON.stringify(report));
