import { escapeHtml, safeHref } from "./html.ts";
import type { PublishedComment, PublishedMedia, PublishedPost, TextSegment } from "./network.ts";

function segmentHtml({ text, href }: TextSegment): string {
  const shown = escapeHtml(text).replaceAll("\n", "<br>");
  const address = href === undefined ? undefined : safeHref(href);
  return address === undefined
    ? shown
    : `<a href="${escapeHtml(address)}" rel="noopener noreferrer" target="_blank">${shown}</a>`;
}

function documentHtml({ path, title, mimeType, bytes }: PublishedMedia): string {
  const size = `${Math.max(1, Math.round(bytes / 1024))} KB`;
  const type = mimeType === "application/pdf" ? "PDF" : "Document";
  return `<a class="document" href="${escapeHtml(path)}" download><b aria-hidden="true">${type}</b><span><strong>${escapeHtml(title ?? "Untitled")}</strong><small>${type}, ${size}</small></span></a>`;
}

/** Where a cropped picture is looked at. */
function positionOf({ focus }: PublishedMedia): string {
  if (focus === undefined) return "";
  const [x, y] = [(focus.x + 1) * 50, (1 - focus.y) * 50].map((part) => Math.round(part));
  return ` style="object-position:${x}% ${y}%"`;
}

function posterOf({ posterPath }: PublishedMedia): string {
  return posterPath === undefined ? "" : ` poster="${escapeHtml(posterPath)}"`;
}

function mediaHtml(media: PublishedMedia): string {
  const { kind, path, alt, title, isDescribable = true } = media;
  if (kind === "document") return documentHtml(media);
  const address = escapeHtml(path);
  const label = escapeHtml(alt ?? "");
  const shown =
    kind === "video"
      ? `<video src="${address}#t=0.1"${posterOf(media)} controls muted preload="metadata" aria-label="${label || "A video"}"></video>`
      : `<img src="${address}" alt="${label}" loading="lazy"${positionOf(media)}>`;
  const named = title === undefined ? "" : `<strong>${escapeHtml(title)}</strong>`;
  const missing = isDescribable ? '<figcaption class="missing">no alt text</figcaption>' : "";
  const caption = alt === null ? missing : `<figcaption><b>ALT</b> ${label}</figcaption>`;
  return `<figure>${shown}${named}${caption}</figure>`;
}

function cardHtml(card: NonNullable<PublishedPost["card"]>): string {
  const { url, title, description, imagePath } = card;
  const address = safeHref(url);
  const image = imagePath === null ? "" : `<img src="${escapeHtml(imagePath)}" alt="">`;
  const host = URL.canParse(url) ? new URL(url).hostname : url;
  const inside = `${image}<span class="about"><small>${escapeHtml(host)}</small><strong>${escapeHtml(title)}</strong><span>${escapeHtml(description)}</span></span>`;
  return address === undefined
    ? `<div class="link">${inside}</div>`
    : `<a class="link" href="${escapeHtml(address)}" rel="noopener noreferrer" target="_blank">${inside}</a>`;
}

function when(iso: string): string {
  return `<time datetime="${escapeHtml(iso)}">${escapeHtml(iso.slice(0, 19).replace("T", " "))} UTC</time>`;
}

const FORMS = { carousel: "Carousel", reel: "Reel", story: "Story, for 24 hours" } as const;

function badges(post: PublishedPost): string {
  const found = [
    post.form === undefined ? "" : `<span class="badge">${FORMS[post.form]}</span>`,
    post.visibility === "public" ? "" : `<span class="badge">${escapeHtml(post.visibility)}</span>`,
    ...(post.remarks ?? []).map((remark) => `<span class="badge">${escapeHtml(remark)}</span>`),
    ...post.languages.map((language) => `<span class="badge">${escapeHtml(language)}</span>`),
    post.edits === 0
      ? ""
      : `<span class="badge alarm">changed ${post.edits} × after it was published</span>`,
    post.truncated === true
      ? '<span class="badge alarm">cut off at a character that was not escaped</span>'
      : "",
  ];
  return found.join("");
}

function rawHtml(post: PublishedPost): string {
  const rows: [string, string][] = [
    ["id", post.id],
    ["address", post.url],
    ["key", post.idempotencyKey ?? "none"],
    ["createdAt", post.createdAt],
    ...post.media.map(({ mimeType, bytes, sha256 }): [string, string] => [
      "file",
      `${mimeType}, ${bytes} bytes, ${sha256.slice(0, 12)}…`,
    ]),
  ];
  const shown = rows.map(([name, value]) => `<dt>${name}</dt><dd>${escapeHtml(value)}</dd>`);
  return `<details class="raw"><summary>Details</summary><dl>${shown.join("")}</dl></details>`;
}

function commentHtml({ author, text, createdAt }: PublishedComment): string {
  const shown = escapeHtml(text).replaceAll("\n", "<br>");
  return `<li><strong>${escapeHtml(author)}</strong> ${shown}<small>${when(createdAt)}</small></li>`;
}

function commentsHtml({ comments = [] }: PublishedPost): string {
  if (comments.length === 0) return "";
  const title = comments.length === 1 ? "1 comment" : `${comments.length} comments`;
  return `<section class="comments"><p>${title}</p><ul>${comments.map(commentHtml).join("")}</ul></section>`;
}

/** One post as a reader of the network would see it. Everything in it is escaped: it is somebody's text. */
export function postCard(post: PublishedPost): string {
  const layout = post.form ?? `n${Math.min(post.media.length, 4)}`;
  const media =
    post.media.length === 0
      ? ""
      : `<div class="media ${layout}"${post.form === "carousel" ? ' tabindex="0" role="group" aria-label="Carousel"' : ""}>${post.media.map(mediaHtml).join("")}</div>`;
  const content = `<p class="text">${post.segments.map(segmentHtml).join("")}</p>${media}${post.card === null ? "" : cardHtml(post.card)}`;
  const shown =
    post.contentWarning === null
      ? content
      : `<details class="warning"><summary>${escapeHtml(post.contentWarning)}</summary>${content}</details>`;
  const { displayName, username } = post.account;
  const initial = String.fromCodePoint(displayName.codePointAt(0) ?? 63);
  const { removedAt } = post;
  const removed =
    removedAt === undefined
      ? ""
      : `<p class="removal"><b>Removed</b> ${when(removedAt)}. Nobody sees this post any more.</p>`;
  // What was removed has no page of its own.
  const time = when(post.publishedAt);
  const address = escapeHtml(encodeURI(post.page));
  const dated = removedAt === undefined ? `<a href="${address}">${time}</a>` : time;
  return `<article class="post ${escapeHtml(post.network)}${removedAt === undefined ? "" : " removed"}">${removed}
<header><span class="face" aria-hidden="true">${escapeHtml(initial)}</span><span class="who"><strong>${escapeHtml(displayName)}</strong><small>${escapeHtml(username)}</small></span></header>
${shown}
<footer>${dated}${badges(post)}</footer>
${commentsHtml(post)}${rawHtml(post)}</article>`;
}
