import { html, initialOf, type Markup } from "./markup.ts";

interface Drawing {
  readonly ground: string;
  /** White lines on the network's color, within 44 by 44. */
  readonly strokes: string;
  readonly shapes: string;
  readonly width: number;
  readonly carved?: string;
}

/** Simple drawings of our own, one for each network. */
const DRAWINGS: Readonly<Partial<Record<string, Drawing>>> = {
  facebook: {
    ground: "#1464d2",
    strokes: "M29 11h-2.5a5 5 0 0 0-5 5v19M16 22.5h11.5",
    shapes: "",
    width: 4.5,
  },
  instagram: {
    ground: "#c2226f",
    strokes:
      "M16.5 10.5h11a6 6 0 0 1 6 6v11a6 6 0 0 1-6 6h-11a6 6 0 0 1-6-6v-11a6 6 0 0 1 6-6zM22 16.6a5.4 5.4 0 1 1 0 10.8 5.4 5.4 0 0 1 0-10.8z",
    shapes: "M28.4 14a1.7 1.7 0 1 1 0 3.4 1.7 1.7 0 0 1 0-3.4z",
    width: 3,
  },
  linkedin: {
    ground: "#0a5aa8",
    strokes: "M13.5 19.5V32M21 32V19.5M21 25a5 5 0 0 1 10 0v7",
    shapes: "M13.5 11a2.7 2.7 0 1 1 0 5.4 2.7 2.7 0 0 1 0-5.4z",
    width: 4.5,
  },
  bluesky: {
    ground: "#0a70dc",
    strokes: "",
    shapes:
      "M22 20.5c-1.9-4-6.6-9-10.3-10.2-2.7-.8-3.9.8-3.5 4.4.5 4.7 1.7 8.3 6.8 8.7-4.8.9-5.6 4-2.7 6.9 4.6 4.4 7.7.2 9.7-4.6 2 4.8 5.1 9 9.7 4.6 2.9-2.9 2.1-6-2.7-6.9 5.1-.4 6.3-4 6.8-8.7.4-3.6-.8-5.2-3.5-4.4C28.6 11.5 23.9 16.5 22 20.5z",
    width: 0,
  },
  mastodon: {
    ground: "#5a4fd6",
    strokes: "",
    shapes:
      "M15 9.5h14a6 6 0 0 1 6 6v7.5a6 6 0 0 1-6 6H18.5c.7 2.6 3.3 3.7 7.5 3.3v2.5C17 36 9 33 9 23.5v-8a6 6 0 0 1 6-6z",
    width: 3,
    carved: "M16.2 24v-6a2.9 2.9 0 0 1 5.8 0v4M22 18a2.9 2.9 0 0 1 5.8 0v6",
  },
};

/** Renders the mark of a network. It is hidden from screen readers, because the name is next to it. */
export function networkMark(network: string, title: string): Markup {
  const drawing = DRAWINGS[network];
  return drawing === undefined
    ? html`<span class="mark initial" aria-hidden="true">${initialOf(title)}</span>`
    : draw(drawing);
}

function draw({ ground, strokes, shapes, width, carved }: Drawing): Markup {
  const line = (path: string, color: string) =>
    html`<path
      d="${path}"
      fill="none"
      stroke="${color}"
      stroke-width="${width}"
      stroke-linecap="round"
      stroke-linejoin="round"
    />`;
  return html`<svg class="mark" viewBox="0 0 44 44" aria-hidden="true" focusable="false">
    <rect width="44" height="44" rx="11" fill="${ground}" />
    ${shapes !== "" && html`<path d="${shapes}" fill="#fff" />`}${strokes !== "" && line(strokes, "#fff")}${carved !== undefined && line(carved, ground)}
  </svg>`;
}

function sign(path: string): Markup {
  return html`<svg viewBox="0 0 16 16" aria-hidden="true" focusable="false">
    <path
      d="${path}"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  </svg>`;
}

export const CHECK = sign("M2.5 8.5 6.5 12.5 13.5 4");
export const CROSS = sign("M3.5 3.5l9 9M12.5 3.5l-9 9");
export const CHEVRON = html`<span class="chevron">${sign("M4 6l4 4 4-4")}</span>`;
export const WARNING = sign("M8 1.5 15 14H1zM8 6v3.5M8 11.8v.1");
