import { escapeHtml } from "../html.ts";
import type { TextSegment } from "../network.ts";

const URL_FORM = /https?:\/\/[^\s<>"“”]+/gi;
const MENTION_FORM =
  /(?<![\w/@])@([a-z0-9_]+(?:[a-z0-9_.-]+[a-z0-9_]+)?)(?:@([a-z0-9.-]+[a-z0-9]))?/gi;
/** `HASHTAG_RE` of mastodon/mastodon, `app/models/tag.rb`: separators of words may stand within a tag. */
const TAG_WORD = String.raw`[\p{L}\p{M}\p{N}\p{Pc}]`;
const TAG_FORM = new RegExp(
  String.raw`(?<![=/)\p{L}\p{N}])[#＃](?=${TAG_WORD}*(?:[\u00b7\u30fb\u200c]+${TAG_WORD}+)*[\p{L}_])(${TAG_WORD}+(?:[\u00b7\u30fb\u200c]+${TAG_WORD}+)*)`,
  "giu",
);

/** Punctuation that ends a sentence does not belong to the address before it. */
function trimmedUrl(found: string): string {
  let url = found.replace(/[.,;:!?'"]+$/, "");
  while (url.endsWith(")") && !url.includes("(")) url = url.slice(0, -1);
  return url;
}

interface Link extends TextSegment {
  readonly start: number;
  readonly kind: "url" | "mention" | "tag";
}

/** Knows the accounts that can be mentioned: anything else stays plain text. */
type FindMention = (
  username: string,
  host: string | undefined,
) => { readonly url: string } | undefined;

function linksOf(text: string, host: string, findMention: FindMention): Link[] {
  const urls = [...text.matchAll(URL_FORM)].map((match): Link => {
    const url = trimmedUrl(match[0]);
    return { kind: "url", start: match.index, text: url, href: url };
  });
  const mentions = [...text.matchAll(MENTION_FORM)].flatMap((match): Link[] => {
    const found = findMention(match[1] ?? "", match[2]);
    return found === undefined
      ? []
      : [{ kind: "mention", start: match.index, text: match[0], href: found.url }];
  });
  const tags = [...text.matchAll(TAG_FORM)].map((match): Link => {
    const tag = (match[1] ?? "").toLowerCase();
    const href = `https://${host}/tags/${encodeURIComponent(tag)}`;
    return { kind: "tag", start: match.index, text: match[0], href };
  });
  const kept: Link[] = [];
  for (const link of [...urls, ...mentions, ...tags]) {
    const clashes = kept.some(
      (other) =>
        link.start < other.start + other.text.length && other.start < link.start + link.text.length,
    );
    if (!clashes) kept.push(link);
  }
  return kept.sort((a, b) => a.start - b.start);
}

type Piece = { readonly text: string; readonly href?: string; readonly kind?: Link["kind"] };

function piecesOf(text: string, host: string, findMention: FindMention): Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const link of linksOf(text, host, findMention)) {
    if (link.start > at) pieces.push({ text: text.slice(at, link.start) });
    pieces.push(link);
    at = link.start + link.text.length;
  }
  if (at < text.length) pieces.push({ text: text.slice(at) });
  return pieces;
}

export function segmentsOf(text: string, host: string, findMention: FindMention): TextSegment[] {
  return piecesOf(text, host, findMention).map((piece) =>
    piece.href === undefined ? { text: piece.text } : { text: piece.text, href: piece.href },
  );
}

export function firstUrl(text: string): string | undefined {
  const [found] = text.match(URL_FORM) ?? [];
  return found === undefined ? undefined : trimmedUrl(found);
}

const URL_SHOWN = 30;

function urlHtml(url: string): string {
  const scheme = /^https?:\/\/(www\.)?/i.exec(url)?.[0] ?? "";
  const shown = url.slice(scheme.length, scheme.length + URL_SHOWN);
  const rest = url.slice(scheme.length + URL_SHOWN);
  return (
    `<a href="${escapeHtml(url)}" target="_blank" rel="nofollow noopener" translate="no">` +
    `<span class="invisible">${escapeHtml(scheme)}</span>` +
    `<span class="${rest === "" ? "" : "ellipsis"}">${escapeHtml(shown)}</span>` +
    `<span class="invisible">${escapeHtml(rest)}</span></a>`
  );
}

function pieceHtml(piece: Piece): string {
  const href = escapeHtml(piece.href ?? "");
  switch (piece.kind) {
    case "url":
      return urlHtml(piece.text);
    case "mention": {
      const username = escapeHtml(piece.text.split("@")[1] ?? "");
      return `<span class="h-card" translate="no"><a href="${href}" class="u-url mention">@<span>${username}</span></a></span>`;
    }
    case "tag":
      return `<a href="${href}" class="mention hashtag" rel="tag">#<span>${escapeHtml(piece.text.slice(1))}</span></a>`;
    default:
      return escapeHtml(piece.text);
  }
}

/** The content as the API answers it: paragraphs at blank lines, line breaks, addresses shown shortened. */
export function contentHtml(text: string, host: string, findMention: FindMention): string {
  if (text.trim() === "") return "";
  return text
    .trim()
    .replace(/\r\n?/g, "\n")
    .split(/\n{2,}/)
    .map((paragraph) => {
      const html = piecesOf(paragraph, host, findMention).map(pieceHtml).join("");
      return `<p>${html.replaceAll("\n", "<br />")}</p>`;
    })
    .join("");
}

/** Content with its Markdown rendered: bold and slanted words, code, headings. */
export function markdownHtml(html: string): string {
  return html
    .replace(/\*\*([^*<>]{1,200})\*\*/g, "<b>$1</b>")
    .replace(/\*([^*<>]{1,200})\*/g, "<i>$1</i>")
    .replace(/`([^`<>]{1,200})`/g, "<code>$1</code>")
    .replace(/<p>#{1,3} ([^<>]{1,200})/g, "<p><h2>$1</h2>");
}
