import { readFileSync } from "node:fs";
import { beforeEach, expect } from "vitest";
import { DEMO_MEMBER, DEMO_ORGANIZATION } from "../../dev/networks/linkedin/state.ts";
import { useSandbox } from "./client.ts";
import type { CallOptions, Reply } from "./client.ts";

export const API = "api.linkedin.com";
export const WWW = "www.linkedin.com";
export const PERSON = `urn:li:person:${DEMO_MEMBER}`;
export const ORGANIZATION = `urn:li:organization:${DEMO_ORGANIZATION}`;
export const DAY_MS = 24 * 3_600_000;
export const media = (name: string) =>
  readFileSync(new URL(`../../dev/networks/media/${name}`, import.meta.url));
export const PHOTO = media("photo.jpg");
export const VERSIONED = { "linkedin-version": "202609", "x-restli-protocol-version": "2.0.0" };
export const body = (change: Record<string, unknown> = {}) => ({
  author: PERSON,
  commentary: "Fresh bread",
  visibility: "PUBLIC",
  distribution: {
    feedDistribution: "MAIN_FEED",
    targetEntities: [],
    thirdPartyDistributionChannels: [],
  },
  lifecycleState: "PUBLISHED",
  isReshareDisabledByAuthor: false,
  ...change,
});
export const errorOf = ({ status, json }: Reply) => [status, json["code"]];

/** The sandbox's LinkedIn for a test file, with fresh tokens before every test. */
export function useLinkedIn(
  keep?: (fresh: { readonly member: string; readonly organization: string }) => void,
) {
  const at = useSandbox();

  let member: string;
  let organization: string;

  /** From now on within the test. */
  function speakAsMember(given: string): void {
    member = given;
    keep?.({ member, organization });
  }
  beforeEach(() => {
    const { linkedin } = at.sandbox.networks;
    const asMember = linkedin.issueToken().accessToken;
    organization = linkedin.issueToken({ as: "organization" }).accessToken;
    speakAsMember(asMember);
  });

  const rest = (path: string, options: CallOptions = {}): Promise<Reply> =>
    at.call(API, `/rest${path}`, {
      token: member,
      ...options,
      headers: { ...VERSIONED, ...options.headers },
    });
  const post = (change: Record<string, unknown> = {}, token = member) =>
    rest("/posts", { token, json: body(change) });
  const shown = () => at.sandbox.posts("linkedin");

  /** Sends bytes to an upload address. */
  function put(url: string, bytes: Uint8Array, headers: Record<string, string>): Promise<Reply> {
    const { host, pathname, search } = new URL(url);
    return at.call(host, pathname + search, {
      method: "PUT",
      body: new Uint8Array(bytes),
      headers,
    });
  }

  async function initialize(
    kind: "image" | "document",
    owner = PERSON,
    token = member,
  ): Promise<{ urn: string; url: string }> {
    const reply = await rest(`/${kind}s?action=initializeUpload`, {
      token,
      json: { initializeUploadRequest: { owner } },
    });
    const value = reply.json["value"] as Record<string, string>;
    return { urn: value[kind] ?? "", url: value["uploadUrl"] ?? "" };
  }

  async function upload(kind: "image" | "document", bytes: Uint8Array, owner = PERSON) {
    const token = owner === PERSON ? member : organization;
    const { urn, url } = await initialize(kind, owner, token);
    const reply = await put(url, bytes, { authorization: `Bearer ${token}` });
    expect(reply).toMatchObject({ status: 201, text: "" });
    return urn;
  }

  return { at, speakAsMember, rest, post, shown, initialize, put, upload };
}
