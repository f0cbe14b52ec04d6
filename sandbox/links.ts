import { htmlPage } from "./exchange.ts";
import type { Answer } from "./exchange.ts";
import { ICON, escapeHtml } from "./html.ts";
import type { Site } from "./network.ts";
import { route } from "./network.ts";

const LINKS_HOST = "links.sandbox.test";

interface Article {
  readonly title: string;
  readonly description: string;
  /** Path at the sample media. */
  readonly image: string | null;
}

const ARTICLES: Readonly<Record<string, Article>> = {
  "/article": {
    title: "The lake at dawn: a walk & a photograph",
    description: "Six kilometres, two bakeries and the best light of the year.",
    image: "/card.jpg",
  },
  "/without-image": {
    title: "A page without a picture",
    description: "It says what it is about, and shows nothing.",
    image: null,
  },
};

export interface LinkCard {
  readonly url: string;
  readonly title: string;
  readonly description: string;
  readonly image: string | null;
  /** Where the sandbox itself shows the picture. */
  readonly imagePath: string | null;
}

/** The card that a network makes of a link. The sandbox dials nobody, so only its own pages have one. */
export function linkCard(address: string | undefined): LinkCard | undefined {
  if (address === undefined || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  const article = url.hostname === LINKS_HOST ? ARTICLES[url.pathname] : undefined;
  if (article === undefined) return undefined;
  const { title, description, image } = article;
  return {
    url: address,
    title,
    description,
    image: image === null ? null : `https://media.sandbox.test${image}`,
    imagePath: image === null ? null : `/_sandbox/media${image}`,
  };
}

function articlePage(path: string, article: Article): Answer {
  const meta = (property: string, content: string) =>
    `<meta property="${property}" content="${escapeHtml(content)}">`;
  const { title, description, image } = article;
  return htmlPage(
    200,
    `<!doctype html><html lang="en"><head><meta charset="utf-8">${ICON}<title>${escapeHtml(title)}</title>
<meta name="description" content="${escapeHtml(description)}">
${meta("og:type", "article")}${meta("og:url", `https://${LINKS_HOST}${path}`)}${meta("og:title", title)}${meta("og:description", description)}
${image === null ? "" : meta("og:image", `https://media.sandbox.test${image}`)}
</head><body><h1>${escapeHtml(title)}</h1><p>${escapeHtml(description)}</p></body></html>`,
  );
}

/** Pages to be linked to. */
export const linkSite: Site = {
  name: "links",
  hosts: [LINKS_HOST],
  routes: [
    ...Object.entries(ARTICLES).map(([path, article]) => ({
      method: "GET" as const,
      path,
      name: "article",
      run: () => articlePage(path, article),
    })),
    route("GET /untitled", "article", () =>
      htmlPage(200, "<!doctype html><p>A page that tells nothing about itself.</p>"),
    ),
    route("GET /not-a-page.pdf", "article", () => ({
      status: 200,
      headers: { "content-type": "application/pdf" },
      body: "%PDF-1.4\n%%EOF\n",
    })),
  ],
  notFound: () => htmlPage(404, "<!doctype html><title>Not found</title><h1>Not found</h1>"),
};
