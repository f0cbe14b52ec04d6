import { describe, expect, test } from "vitest";
import { facebook } from "../../src/shared/networks/facebook/index.ts";
import { instagram } from "../../src/shared/networks/instagram/index.ts";
import { linkedin } from "../../src/shared/networks/linkedin/index.ts";
import { bluesky } from "../../src/shared/networks/bluesky/index.ts";
import { mastodon } from "../../src/shared/networks/mastodon/index.ts";
import { findSoftware } from "../../src/shared/networks/mastodon/software.ts";
import { classify } from "../../src/shared/networks/bluesky/errors.ts";
import { errorText } from "../../src/shared/networks/mastodon/errors.ts";
import * as blueskyScript from "./bluesky-script.ts";
import * as mastodonScript from "./mastodon-script.ts";
import * as facebookScript from "./facebook-script.ts";
import * as instagramScript from "./instagram-script.ts";
import * as linkedinScript from "./linkedin-script.ts";
import { NOW, answer, scriptedTools } from "./scripted-tools.ts";
import { readAccount, resolveServer } from "../../src/shared/networks/bluesky/identity.ts";

/** What servers have put where nothing is needed. */
const NOTHINGS = [null, 7, "", [], {}, false];

describe.each(NOTHINGS.map((nothing) => [nothing]))(
  "a field that is not needed and holds %j",
  (nothing) => {
    test("a field that is not needed does not hide Bluesky's error or profile", async () => {
      const reply = answer(400, { error: "ExpiredToken", message: nothing });
      expect(classify(reply, NOW)).toMatchObject({ networkCode: "ExpiredToken" });
      const { DID, PDS, PLC, documentAt } = blueskyScript;
      const VIEW = "GET https://public.api.bsky.app/xrpc";
      const http = {
        [`${VIEW}/app.bsky.actor.getProfile`]: answer(200, {
          displayName: "Alice",
          avatar: nothing,
        }),
        [PLC]: documentAt(PDS),
        [`${VIEW}/com.atproto.identity.resolveHandle`]: answer(200, { did: DID }),
      };
      const named = { did: DID, handle: "alice.test", pds: PDS };
      const account = await readAccount(named, scriptedTools({ http }));
      expect(account).toMatchObject({ displayName: "Alice", avatarUrl: null });
    });

    test("a field that is not needed does not hide Bluesky's renewed session, or the server in a document", async () => {
      const { DID, PDS, PLC, credentials, xrpc } = blueskyScript;
      const session = { did: DID, accessJwt: "new", refreshJwt: "next", active: true };
      const service = [nothing, { id: "#atproto_pds", serviceEndpoint: "https://new.example" }];
      const http = {
        [xrpc("POST", "com.atproto.server.refreshSession")]: answer(200, {
          ...session,
          handle: nothing,
          status: nothing,
          didDoc: nothing,
        }),
        [PLC]: answer(200, { id: DID, alsoKnownAs: nothing, service }),
      };
      const tools = scriptedTools({ http });
      const expiring = { ...credentials, accessExpiresAt: NOW.toISOString() };
      expect(await bluesky.freshen(expiring, PDS, tools)).toMatchObject({
        kind: "refreshed",
        credentials: { accessJwt: "new" },
      });
      expect(await resolveServer(DID, tools)).toBe("https://new.example");
    });

    test("a field that is not needed does not hide the software of a server, or an account's own posts", async () => {
      const { ORIGIN, begun, credentials, leg } = mastodonScript;
      const nodeinfo = `${ORIGIN}/nodeinfo/2.0`;
      const link = { rel: "http://nodeinfo.diaspora.software/ns/schema/2.0", href: nodeinfo };
      const post = { id: "7", created_at: NOW.toISOString(), content: "<p>Hello</p>" };
      const http = {
        [`GET ${ORIGIN}/.well-known/nodeinfo`]: answer(200, { links: [nothing, link] }),
        [`GET ${nodeinfo}`]: answer(200, { version: nothing, software: { name: "Friendica" } }),
        [`GET ${ORIGIN}/api/v1/accounts/42/statuses`]: answer(200, [
          { ...post, url: nothing, spoiler_text: nothing, visibility: nothing, reblog: null },
        ]),
      };
      const tools = scriptedTools({ http });
      expect(await findSoftware(ORIGIN, tools)).toBe("friendica");
      const remote = { ...begun, keepsKeys: true };
      const sent = leg({}, { remote, credentials, sentAt: NOW });
      expect(await mastodon.calls.publish.find(sent, tools)).toMatchObject({
        externalId: "7",
      });
    });

    test("a field that is not needed does not hide Mastodon's error", () => {
      const reply = answer(400, { error: "invalid_grant", error_description: nothing });
      expect(errorText(reply)).toBe("invalid grant");
    });

    test("a field that is not needed does not hide a post of Facebook's lists", async () => {
      const { GRAPH, asPhotos, leg, tools } = facebookScript;
      const attachment = { media_type: nothing, target: { id: "2" }, subattachments: nothing };
      const post = { id: "42_5", message: nothing, attachments: { data: [attachment] } };
      const http = {
        [`GET ${GRAPH}/42/published_posts`]: answer(200, { data: [post], paging: nothing }),
        [`GET ${GRAPH}/42/feed`]: answer(200, { data: [] }),
      };
      const sent = leg({}, { remote: asPhotos, sentAt: NOW });
      expect(await facebook.calls.publish.find(sent, tools({ http }))).toMatchObject({
        kind: "done",
        externalId: "42_5",
      });
    });

    test("a field that is not needed does not hide the other entries of its list", async () => {
      const { GRAPH, asPhotos, leg, tools } = facebookScript;
      const attachments = { data: [nothing, { media_type: "photo", target: { id: "2" } }] };
      const http = {
        [`GET ${GRAPH}/42/published_posts`]: answer(200, { data: [{ id: "42_5", attachments }] }),
        [`GET ${GRAPH}/42/feed`]: answer(200, { data: [] }),
      };
      const sent = leg({}, { remote: asPhotos, sentAt: NOW });
      const found = { kind: "done", externalId: "42_5" };
      expect(await facebook.calls.publish.find(sent, tools({ http }))).toMatchObject(found);
    });

    test("a field that is not needed does not hide Instagram's token, its container or a post", async () => {
      const { LOOK, anImage, credentials, at, DAY, leg, tools } = instagramScript;
      const token = answer(200, { access_token: "new", expires_in: nothing });
      const http = {
        "GET https://graph.instagram.com/refresh_access_token": token,
        [LOOK("1")]: answer(200, { status_code: "PUBLISHED", status: nothing }),
        [LOOK("42/media")]: answer(200, {
          data: [
            {
              id: "9",
              caption: "Hello",
              timestamp: NOW.toISOString(),
              permalink: nothing,
              media_type: "IMAGE",
            },
          ],
        }),
      };
      const due = { ...credentials, issuedAt: at(-40 * DAY), expiresAt: at(20 * DAY) };
      expect(await instagram.freshen(due, null, tools({ http }))).toMatchObject({
        kind: "refreshed",
        expiresAt: at(nothing === 7 ? 7 : 60 * DAY),
      });
      const sent = leg({}, { remote: anImage, sentAt: NOW });
      expect(await instagram.calls.publish.find(sent, tools({ http }))).toMatchObject({
        kind: "done",
        url: null,
      });
    });

    test("a field that is not needed does not hide a LinkedIn organization", async () => {
      const { REST, tools } = linkedinScript;
      const role = {
        organization: nothing,
        organizationTarget: "urn:li:organization:5",
        role: "ADMINISTRATOR",
        roleAssignee: nothing,
      };
      const token = {
        access_token: "t",
        expires_in: "100",
        scope: nothing,
        refresh_token: nothing,
      };
      const used = tools({
        http: {
          "POST https://www.linkedin.com/oauth/v2/accessToken": answer(200, token),
          [`GET ${REST}/organizationAcls`]: answer(200, { elements: [role] }),
          [`GET ${REST}/organizations/5`]: answer(200, {
            localizedName: "Five",
            vanityName: nothing,
          }),
        },
      });
      const callback = {
        params: { code: "c" },
        codeVerifier: "v",
        redirectUri: "https://relay.example/callback",
        flow: { kind: "organization" },
      };
      const isNamed = nothing === "" || Array.isArray(nothing);
      expect(await linkedin.link.finish(callback, used)).toMatchObject(
        isNamed
          ? { kind: "failed" }
          : { kind: "linked", linked: { account: { displayName: "Five" } } },
      );
    });
  },
);
