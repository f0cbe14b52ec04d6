import { expect, test } from "vitest";
import { aPublisher } from "../setup/publisher.ts";
import { useRelay } from "../setup/use-relay.ts";
import { forFile } from "../setup/for-file.ts";

const relay = useRelay();
const publisher = forFile(() => aPublisher(relay, []));

const send = (path: string, body: object) => publisher.call("POST", path, { body });

const draft = (fields: object) => ({ text: "Fresh bread", platforms: ["bluesky"], ...fields });
const options = (network: string, fields: object) =>
  draft({ platforms: [network], platformOptions: { [network]: fields } });
const card = (fields: object) => ({ url: "https://a.example.org/", title: "A", ...fields });

const VALIDATE = "/v1/posts/validate";
const SESSIONS = "/v1/profiles/{profileId}/connect/sessions";

/** Every place in which a caller gives an address, endpoints excepted, which `webhooks.test.ts` has. */
const PLACES: readonly (readonly [place: string, path: string, make: (url: string) => object])[] = [
  ["mediaUrls.0", VALIDATE, (url) => draft({ mediaUrls: [url] })],
  [
    "platformOptions.mastodon.mediaUrls.0",
    VALIDATE,
    (url) => options("mastodon", { mediaUrls: [url] }),
  ],
  [
    "platformOptions.instagram.coverUrl",
    VALIDATE,
    (url) => options("instagram", { coverUrl: url }),
  ],
  ["platformOptions.facebook.link", VALIDATE, (url) => options("facebook", { link: url })],
  [
    "platformOptions.linkedin.link.url",
    VALIDATE,
    (url) => options("linkedin", { link: card({ url }) }),
  ],
  [
    "platformOptions.linkedin.link.thumbnailUrl",
    VALIDATE,
    (url) => options("linkedin", { link: card({ thumbnailUrl: url }) }),
  ],
  [
    "platformOptions.bluesky.linkCard.url",
    VALIDATE,
    (url) => options("bluesky", { linkCard: card({ url }) }),
  ],
  [
    "platformOptions.bluesky.linkCard.thumbnailUrl",
    VALIDATE,
    (url) => options("bluesky", { linkCard: card({ thumbnailUrl: url }) }),
  ],
  ["returnUrl", SESSIONS, (url) => ({ returnUrl: url })],
  ["branding.logoUrl", SESSIONS, (url) => ({ branding: { logoUrl: url } })],
];

test.each(PLACES)("%s is refused where it would be read as another address", async (...given) => {
  const [place, template, make] = given;
  const path = template.replace("{profileId}", publisher.profileId);
  for (const url of [
    "https://a.example.org/do\nne",
    "https://a.example.org\t/a",
    "https://a.example.org/\\a",
    "https:/a.example.org/a",
    "https:\\\\a.example.org",
    "https://0x8.8.8.8/",
    "https://\uff41.example.org/",
  ]) {
    const { status, body } = await send(path, make(url));
    expect([status, body.error?.code], url).toEqual([400, "validation_failed"]);
    expect(body.error.details.issues.map((issue: { path: string }) => issue.path)).toEqual([place]);
  }
  for (const url of [" https://a.example.org/a\n", "https://a.example.org/b\u00e4r a"])
    expect((await send(path, make(url))).status, url).toBeLessThan(300);
});
