import type { PublishedPost } from "../network.ts";
import { linkCard } from "../links.ts";
import { mediaEntity } from "./media.ts";
import { personalityOf } from "./personality.ts";
import { accountsOf, findAccount } from "./state.ts";
import type { Account, MastodonShared, Media, Status } from "./state.ts";
import { contentHtml, firstUrl, markdownHtml, segmentsOf } from "./text.ts";

export function accountEntity(account: Account): Record<string, unknown> {
  const { id, host, username, displayName } = account;
  return {
    id,
    username,
    acct: username,
    display_name: displayName,
    locked: false,
    bot: false,
    discoverable: true,
    created_at: "2026-01-01T00:00:00.000Z",
    note: "",
    url: `https://${host}/@${username}`,
    uri: `https://${host}/users/${username}`,
    avatar: `https://${host}/avatars/original/missing.png`,
    avatar_static: `https://${host}/avatars/original/missing.png`,
    header: `https://${host}/headers/original/missing.png`,
    header_static: `https://${host}/headers/original/missing.png`,
    followers_count: 0,
    following_count: 0,
    statuses_count: 0,
    last_status_at: null,
    emojis: [],
    fields: [],
  };
}

/** Finds an account that a text on the host mentions, there or on another instance of the sandbox. */
function mentionFinder(shared: MastodonShared, host: string) {
  return (username: string, mentionedHost: string | undefined) => {
    const name = username.toLowerCase();
    const home = (mentionedHost ?? host).toLowerCase();
    const known =
      home === host
        ? accountsOf(shared.state, host)
        : shared.state.accounts.filter((account) => account.host === home);
    const account = known.find((candidate) => candidate.username === name);
    return account === undefined ? undefined : { url: `https://${home}/@${name}` };
  };
}

function mediaOf(shared: MastodonShared, status: Status): Media[] {
  return status.mediaIds.flatMap((id) => shared.state.media.get(id) ?? []);
}

function addressOf(status: Status, account: Account | undefined): string {
  return `https://${status.host}/@${account?.username ?? "unknown"}/${status.id}`;
}

function cardEntity(status: Status): Record<string, unknown> | null {
  const card = linkCard(firstUrl(status.text));
  if (card === undefined || status.mediaIds.length > 0) return null;
  const { url, title, description, image } = card;
  return {
    url,
    title,
    description,
    type: "link",
    author_name: "",
    author_url: "",
    provider_name: new URL(url).hostname,
    provider_url: "",
    html: "",
    width: 1200,
    height: 630,
    image,
    embed_url: "",
    blurhash: null,
  };
}

export function statusEntity(shared: MastodonShared, status: Status): Record<string, unknown> {
  const account = findAccount(shared.state, status.host, status.accountId);
  const app = shared.state.apps.get(status.clientId);
  const { isSmall, rendersMarkdown } = personalityOf(status.host);
  const html = contentHtml(status.text, status.host, mentionFinder(shared, status.host));
  return {
    id: status.id,
    created_at: new Date(status.createdAt).toISOString(),
    in_reply_to_id: null,
    in_reply_to_account_id: null,
    sensitive: status.sensitive,
    spoiler_text: status.spoilerText,
    visibility: status.visibility,
    language: status.language,
    uri: `https://${status.host}/users/${account?.username ?? "unknown"}/statuses/${status.id}`,
    url: addressOf(status, account),
    replies_count: 0,
    reblogs_count: 0,
    favourites_count: 0,
    edited_at: null,
    content: rendersMarkdown ? markdownHtml(html) : html,
    reblog: null,
    application: app === undefined ? null : { name: app.name, website: app.website },
    account: account === undefined ? null : accountEntity(account),
    media_attachments: mediaOf(shared, status).map((media) => ({
      ...mediaEntity(media),
      ...(isSmall ? { id: `shown-${media.id}` } : {}),
    })),
    mentions: [],
    tags: [],
    emojis: [],
    card: cardEntity(status),
    poll: null,
  };
}

export function publishedPost(shared: MastodonShared, status: Status): PublishedPost {
  const { host, id, text, language, visibility, idempotencyKey } = status;
  const account = findAccount(shared.state, host, status.accountId);
  const findMention = mentionFinder(shared, host);
  const createdAt = new Date(status.createdAt).toISOString();
  const card = status.mediaIds.length > 0 ? undefined : linkCard(firstUrl(text));
  return {
    network: "mastodon",
    host,
    account: {
      id: status.accountId,
      username: `@${account?.username ?? "unknown"}@${host}`,
      displayName: account?.displayName ?? "unknown",
    },
    id,
    url: addressOf(status, account),
    page: `/@${account?.username ?? "unknown"}@${host}/${id}`,
    text,
    segments: segmentsOf(text, host, findMention),
    html: contentHtml(text, host, findMention),
    contentWarning:
      status.spoilerText === "" ? (status.sensitive ? "Sensitive" : null) : status.spoilerText,
    visibility,
    languages: [language],
    media: mediaOf(shared, status).map((media) => ({
      kind: media.type === "video" ? "video" : "image",
      path: `/_sandbox/blobs/${media.sha256}`,
      mimeType: media.mimeType,
      bytes: media.bytes,
      sha256: media.sha256,
      alt: media.description,
      ...(media.focus ? { focus: media.focus } : {}),
    })),
    card:
      card === undefined
        ? null
        : {
            url: card.url,
            title: card.title,
            description: card.description,
            imagePath: card.imagePath,
          },
    createdAt,
    publishedAt: createdAt,
    idempotencyKey,
    edits: 0,
  };
}
