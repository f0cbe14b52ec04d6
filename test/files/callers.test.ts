import { beforeAll, describe, expect, test } from "vitest";
import { storageState } from "../../src/shared/files/files.ts";
import { aKey, aPlatform, aProfile, dataOf, outcomeOf } from "../setup/factories.ts";
import { aPublisher, type Publisher } from "../setup/publisher.ts";
import type { CallOptions, Relay } from "../setup/relay.ts";
import { announce, aPicture, send, upload } from "../setup/uploads.ts";
import { useRelay } from "../setup/use-relay.ts";

const relay = useRelay();
/** Where nothing listens. */
const AWAY =
  "DefaultEndpointsProtocol=http;AccountName=a;AccountKey=QQ==;BlobEndpoint=http://127.0.0.1:9/a";
const cutOff = useRelay({ settings: { MEDIA_STORAGE: AWAY } });
let picture: Buffer;
beforeAll(async () => {
  picture = await aPicture();
});

const ROUTES = [
  ["POST", ""],
  ["POST", "/complete"],
  ["GET", ""],
  ["GET", "/content"],
  ["DELETE", ""],
] as const;

/** What each route answers for a file: announcing another one, and what there is for the file itself. */
async function outcomes(of: Relay, id: string, options: CallOptions): Promise<string[]> {
  const answers: string[] = [];
  for (const [method, path] of ROUTES) {
    const isNew = method === "POST" && path === "";
    const body = isNew ? { body: { contentType: "image/jpeg", bytes: 9 } } : {};
    const to = isNew ? "/v1/media" : `/v1/media/${id}${path}`;
    const answer = await of.call(method, to, { ...options, ...body });
    answers.push(answer.status === 302 ? "302" : outcomeOf(answer));
  }
  return answers;
}

describe("the routes of a file", () => {
  let publisher: Publisher;
  let id: string;
  beforeAll(async () => {
    publisher = await aPublisher(relay, []);
    ({ id } = await upload(publisher, picture));
  });

  test("need the profile of a restricted key, and its allowance", async () => {
    const { application, profileId } = publisher;
    const other = await aProfile(relay, application);
    const body = { name: "n", scope: "restricted", allowedProfileIds: [other.id] };
    const { secret: key } = await aKey(relay, application, body);
    expect(new Set(await outcomes(relay, id, { key }))).toEqual(
      new Set(["400 profile_header_required"]),
    );
    const headers = { "x-profile-id": profileId };
    expect(new Set(await outcomes(relay, id, { key, headers }))).toEqual(
      new Set(["403 profile_not_allowed"]),
    );
    expect(outcomeOf(await relay.call("GET", "/v1/media", { key }))).toBe(
      "400 profile_header_required",
    );
  });

  test("cost nothing, and let those of a disabled profile be read and deleted alone", async () => {
    const own = await aPublisher(relay, [], await aPlatform(relay, { tokens: 0 }));
    const file = await upload(own, picture);
    dataOf(await own.call("DELETE", `/v1/profiles/${own.profileId}`));
    expect(await outcomes(relay, file.id, { key: own.key, headers: own.headers })).toEqual([
      "403 profile_disabled",
      "403 profile_disabled",
      "200",
      "302",
      "204",
    ]);
  });

  test("are closed for a suspended platform", async () => {
    const own = await aPublisher(relay, []);
    const file = await upload(own, picture);
    const path = `/v1/admin/platforms/${own.owner.platformId}`;
    const body = { status: "suspended" };
    dataOf(await relay.call("PATCH", path, { operator: ["Admin"], body }));
    expect(new Set(await outcomes(relay, file.id, { key: own.key, headers: own.headers }))).toEqual(
      new Set(["403 platform_suspended"]),
    );
  });
});

test("while the storage of files is away, its routes say so, the others work, and no line has a name or an address", async () => {
  const own = await aPublisher(cutOff, []);
  const file = dataOf(await announce(own, 9, { filename: "a secret name.jpg" }));
  await expect(send(file, Buffer.alloc(9))).rejects.toThrow("fetch failed");
  expect(await outcomes(cutOff, file.id, { key: own.key, headers: own.headers })).toEqual([
    "201",
    "503 service_unavailable",
    "200",
    "409 invalid_state",
    "204",
  ]);
  expect(dataOf(await cutOff.call("GET", "/ready")).files).toBe("failing");
  expect(dataOf(await relay.call("GET", "/ready")).files).toBe("ok");
  const { stores } = relay.services.publishing.files;
  expect(await storageState({ stores: { ...stores, hasAccount: false } })).toBe("off");
  const lines = [...cutOff.logLines, ...relay.logLines].join("\n");
  expect(lines).toContain("service_unavailable");
  expect(lines).not.toMatch(/a secret name|sig=/);
});
