/**
 * A customer's program, which uses nothing but the client's package. It is type checked, and run wherever the client
 * runs. `run` returns what it found.
 */
import {
  isRelayError,
  RelayClient,
  RelayWebhookError,
  verifyWebhook,
  type Input,
  type Schemas,
} from "publishing-relay-client";

export interface Setup {
  readonly baseUrl: string;
  /** A key or a session of a publisher whose profile has linked accounts. */
  readonly caller: { readonly key: string } | { readonly session: string };
  readonly profileId: string;
  readonly applicationId?: string;
  readonly text: string;
  /** A PNG in base64. */
  readonly picture: string;
  readonly delivery: { readonly secret: string; readonly body: string; readonly header: string };
}

async function profilesOf(relay: RelayClient, prefix: string, more: { applicationId?: string }) {
  for (const number of ["one", "two", "three"]) {
    const externalId = `${prefix} ${number}`;
    await relay.createProfile({ title: `Shop ${number}`, externalId, ...more });
  }
  const seen: string[] = [];
  for await (const { externalId } of relay.listProfiles({ limit: 2, ...more }))
    if (externalId?.startsWith(prefix) === true) seen.push(externalId.slice(prefix.length + 1));
  let pages = 0;
  for await (const { data } of relay.listProfiles({ limit: 2, ...more }).pages())
    pages += data.length > 0 ? 1 : 0;
  return { seen, pages };
}

async function errorsOf(relay: RelayClient, externalId: string, more: { applicationId?: string }) {
  const failure = async (call: Promise<unknown>) =>
    call.then(() => undefined).catch((error: unknown) => error);
  const taken = await failure(relay.createProfile({ title: "Again", externalId, ...more }));
  const invalid = await failure(relay.createProfile({ title: "", ...more }));
  return {
    existingId: isRelayError(taken, "conflict") ? taken.details.existingId : String(taken),
    paths: isRelayError(invalid, "validation_failed")
      ? invalid.details.issues.map(({ path }) => path)
      : String(invalid),
  };
}

async function publish(relay: RelayClient, text: string) {
  const post: Input<"createPost"> = {
    text,
    platforms: ["bluesky", "mastodon"],
    platformOptions: { mastodon: { visibility: "unlisted" } },
    idempotencyKey: `customer-${Date.now()}`,
  };
  const { id } = await relay.createPost(post);
  const again = await relay.createPost(post);
  const ended = await relay.waitForPost(id);
  return { isSame: again.id === id, status: ended.status, urls: ended.legs.map(({ url }) => url) };
}

async function uploadPicture(relay: RelayClient, base64: string) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  let sent = 0;
  const file = await relay.uploadFile(new Blob([bytes], { type: "image/png" }), {
    filename: "blue.png",
    onProgress: (count) => (sent = count),
  });
  return { status: file.status, width: file.width, isSent: sent === bytes.length };
}

async function verify({ secret, body, header }: Setup["delivery"]) {
  const verdict = (...given: Parameters<typeof verifyWebhook>) =>
    verifyWebhook(...given).then(
      ({ type }) => type,
      (error: unknown) => (error instanceof RelayWebhookError ? "refused" : String(error)),
    );
  const headers = new Headers({ "X-Social-Restapi-Signature": header });
  return [await verdict(headers, body, secret), await verdict(headers, `${body} `, secret)];
}

export async function run({ baseUrl, caller, profileId, text, ...setup }: Setup) {
  const relay = new RelayClient({ baseUrl, ...caller, profileId });
  const { applicationId, delivery } = setup;
  const more = applicationId === undefined ? {} : { applicationId };
  return {
    profiles: await profilesOf(relay, text, more),
    errors: await errorsOf(relay, `${text} one`, more),
    post: await publish(relay, text),
    file: await uploadPicture(relay, setup.picture),
    webhook: await verify(delivery),
  };
}

/** Never called: the compiler judges it. */
export async function mistakes(relay: RelayClient) {
  // @ts-expect-error -- a field that no request has
  await relay.createProfile({ title: "Shop", color: "red" });
  // @ts-expect-error -- a call without what it needs
  await relay.getPost();
  // @ts-expect-error -- a network that there is not
  await relay.createPost({ text: "Hello", platforms: ["myspace"] });
  // @ts-expect-error -- an operation that there is not
  await relay.createNothing();
  const balance = await relay.getBalance();
  // @ts-expect-error -- a field that no balance has
  void balance.euros;
  const canceled = await relay.cancelPost({ postId: "pst_1" });
  // @ts-expect-error -- a repeated DELETE may find nothing
  void canceled.status;
  const post: Schemas["Post"] | undefined = canceled;
  try {
    await relay.retryPost({ postId: post?.id ?? "" });
  } catch (error) {
    if (!isRelayError(error)) throw error;
    // @ts-expect-error -- a code that there is not
    if (error.code === "duplicated") return;
    // @ts-expect-error -- the details of another code
    if (error.code === "insufficient_tokens") void error.details.existingId;
  }
}
