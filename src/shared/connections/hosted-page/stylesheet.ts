import { Markup } from "./markup.ts";
import type { Branding } from "../schema.ts";

type Rgb = readonly [number, number, number];

function parseColor(color: string): Rgb {
  const part = (start: number) => Number.parseInt(color.slice(start, start + 2), 16);
  return [part(1), part(3), part(5)];
}

function format(rgb: Rgb): string {
  return `#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = parseColor(color).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast by WCAG 2.2: 1 for equal colors (`#rrggbb`), 21 for black on white. */
export function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

const TEXT_CONTRAST = 4.5;
const STEPS = 24;
/** How much darker a color may become for white text. It is still seen as the customer's color. */
const SHADE_STEPS_MAX = 6;

/** A color of buttons, and the color of text on it. */
interface Fill {
  readonly fill: string;
  readonly ink: "#ffffff" | "#000000";
}

/**
 * Returns a color on which text can be read: white text on the given one, or else on a slightly darker one, as on most
 * pages. On a color that is too bright for that, the text is black.
 */
export function filledWith(color: string): Fill {
  for (let step = 0; step <= SHADE_STEPS_MAX; step += 1) {
    const fill = mixed(color, "#000000", step / STEPS);
    if (contrast(fill, "#ffffff") >= TEXT_CONTRAST) return { fill, ink: "#ffffff" };
  }
  return { fill: color, ink: "#000000" };
}

function mixed(color: string, towards: string, share: number): string {
  const other = parseColor(towards);
  const [red, green, blue] = parseColor(color);
  const mix = (part: number, index: 0 | 1 | 2) => Math.round(part + (other[index] - part) * share);
  return format([mix(red, 0), mix(green, 1), mix(blue, 2)]);
}

/** Returns the color if it is readable on all backgrounds, or else the nearest darker or lighter color that is. */
export function readableOn(color: string, grounds: readonly string[]): string {
  const towards =
    contrast(grounds[0] ?? "#ffffff", "#ffffff") > TEXT_CONTRAST ? "#ffffff" : "#000000";
  for (let step = 0; step < STEPS; step += 1) {
    const candidate = mixed(color, towards, step / STEPS);
    if (grounds.every((ground) => contrast(candidate, ground) >= TEXT_CONTRAST)) return candidate;
  }
  return towards;
}

/** The color of a page when the customer has none. */
export const ACCENT = "#2457d6";

/** The backgrounds of text and lines in the accent color. */
export const GROUNDS = {
  light: ["#f5f6f8", "#ffffff"],
  dark: ["#14161a", "#1e2127"],
} as const;
type Scheme = keyof typeof GROUNDS;

const INK = { light: "#16181d", dark: "#eef0f4" } as const;

const COLORS = {
  light: `--soft: #565c69; --line: #dfe2e8; --edge: #767c88; --bad: #a51d2d; --bad-ground: #fdf0f1;
  --good: #1b6e3c; --good-ground: #edf7f0; --warn: #7a4a00; --shade: 0 1px 2px #10182814, 0 4px 16px #1018280a;`,
  dark: `--soft: #a9b0bd; --line: #343943; --edge: #858c99; --bad: #ff9aa5; --bad-ground: #35191d;
  --good: #7fd6a2; --good-ground: #16291d; --warn: #f2c46d; --shade: none;`,
} as const;

/** How much a button changes under the pointer, away from the color of its text. */
const HOVER_SHARE = 0.14;
const VISIBLE_CONTRAST = 1.5;
/** Below this difference between its largest and smallest component, a color looks grey. */
const GREY_SPREAD = 48;

/**
 * Returns the color of buttons: the customer's, unless it could not be seen on the background. Then a grey one becomes
 * the text color, and a dark one becomes lighter. A bright one stays, because its hue can be seen.
 */
export function fillOn(color: string, scheme: Scheme): string {
  const grounds = GROUNDS[scheme];
  if (grounds.every((ground) => contrast(color, ground) >= VISIBLE_CONTRAST)) return color;
  const parts = parseColor(color);
  if (Math.max(...parts) - Math.min(...parts) < GREY_SPREAD) return INK[scheme];
  return scheme === "light" ? color : readableOn(color, grounds);
}

function colors(scheme: Scheme, accent: string): string {
  const [ground, card] = GROUNDS[scheme];
  const { fill, ink } = filledWith(fillOn(accent, scheme));
  const hover = mixed(fill, ink === "#ffffff" ? "#000000" : "#ffffff", HOVER_SHARE);
  return `--accent: ${fill}; --on-accent: ${ink}; --accent-hover: ${hover}; --accent-ink: ${readableOn(fill, GROUNDS[scheme])};
  --ground: ${ground}; --card: ${card}; --ink: ${INK[scheme]}; ${COLORS[scheme]}`;
}

/** Returns the page's style sheet. The color was checked to be `#rrggbb` when the session was created. */
export function stylesheet(accent = ACCENT, theme: Branding["theme"] = "auto"): Markup {
  const themed =
    theme === "light" || theme === "dark"
      ? `:root { color-scheme: ${theme}; ${colors(theme, accent)} }`
      : `:root { color-scheme: light dark; ${colors("light", accent)} }
@media (prefers-color-scheme: dark) { :root { ${colors("dark", accent)} } }`;
  return new Markup(`\n${themed}\n${RULES}`);
}

/** How long a pressed button shows that it works. No step takes longer. */
const BUSY_SECONDS = 20;

const RULES = `
*, *::before { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body { margin: 0; min-height: 100vh; background: var(--ground); color: var(--ink); border-top: .25rem solid var(--accent);
  font: 1rem/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
.skip { position: absolute; inset-inline-start: 1rem; top: -10rem; padding: .6rem 1rem; border-radius: 0 0 .5rem .5rem;
  background: var(--card); color: var(--ink); z-index: 1; }
.skip:focus { top: 0; }
.wrap { max-width: 36rem; margin: 0 auto; padding: .75rem .875rem 1rem; }
.brand { display: flex; align-items: center; gap: .75rem; min-height: 2.5rem; margin: 0 0 .75rem; font-weight: 650; }
.brand > span:last-child { min-width: 0; }
.logo { display: grid; flex: none; max-width: 60%; border-radius: .5rem; overflow: clip;
  box-shadow: 0 0 0 1px var(--line); }
.logo > * { grid-area: 1 / 1; place-self: center; }
.letter { width: 2.5rem; line-height: 2.5rem; border-radius: .625rem; text-align: center; background: var(--accent); color: var(--on-accent);
  box-shadow: inset 0 0 0 1px var(--accent-ink); }
/* No width: a logo that doesn't load must not hide the initial. White fills the rest beside a narrow logo. */
.logo img { position: relative; max-width: 100%; height: 2.5rem; object-fit: contain; background: #fff; color: #16181d;
  filter: drop-shadow(.5rem 0 #fff) drop-shadow(.5rem 0 #fff) drop-shadow(-.5rem 0 #fff) drop-shadow(-.5rem 0 #fff); }
h1 { font-size: 1.5rem; line-height: 1.25; letter-spacing: -.01em; margin: 0 0 .375rem; text-wrap: balance; }
p { margin: 0; }
.card > p + p { margin-top: .5rem; }
.soft { color: var(--soft); }
.steps { display: grid; grid-template-columns: repeat(3, auto); justify-content: space-between; gap: .5rem; list-style: none;
  margin: .75rem 0; padding: 0; font-size: .8125rem; color: var(--soft); }
.steps li { display: grid; grid-template-columns: auto 1fr; align-items: center; gap: .4rem; line-height: 1.2; }
.steps span { display: grid; place-items: center; width: 1.5rem; height: 1.5rem; border: 1px solid var(--edge);
  border-radius: 50%; font-size: .8125rem; font-weight: 650; }
.steps svg { width: .75rem; }
.terms { list-style: none; display: grid; gap: .125rem; margin: 0 0 .75rem; padding: 0; font-size: .875rem; line-height: 1.4; color: var(--soft); }
.terms li { display: flex; gap: .5rem; }
.terms svg { flex: none; width: .875rem; margin-top: .2em; height: .875rem; }
.steps .over span { color: var(--good); border-color: var(--good); }
.steps [aria-current] { color: var(--ink); font-weight: 650; }
.steps [aria-current] span { background: var(--accent); color: var(--on-accent); border-color: var(--accent-ink); }
.note { padding: .625rem 1rem; margin: 0 0 1rem; border-radius: .75rem; border: 1px solid; }
.bad p { color: var(--ink); }
.bad p.strong { color: inherit; font-weight: 650; }
a { color: var(--accent-ink); font-weight: 600; }
.bad { color: var(--bad); background: var(--bad-ground); }
.good { color: var(--good); background: var(--good-ground); font-weight: 600; }
.note > svg { width: 1em; height: 1em; vertical-align: -.125em; margin-inline-end: .4rem; }
.rows, .linked { list-style: none; margin: 0; padding: 0; background: var(--card); border: 1px solid var(--line); border-radius: 1rem;
  box-shadow: var(--shade); overflow: clip; }
.row + .row,  .linked li + li { border-top: 1px solid var(--line); }
.line { display: grid; grid-template-columns: auto minmax(0, 1fr) auto; align-content: center; column-gap: .75rem; min-height: 3.5rem;
  padding: .4375rem .875rem; line-height: 1.35; }
.line > .mark, .line > .face { grid-column: 1; grid-row: 1 / span 3; align-self: center; }
.line > .name, .line > .state { grid-column: 2; }
.line > .handle { grid-column: 2 / -1; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.line > .go, .line > .chevron { grid-column: 3; grid-row: 1 / span 2; align-self: center; justify-self: end; }
summary.line { list-style: none; color: inherit; font-weight: 400; cursor: pointer; }
summary.line::-webkit-details-marker { display: none; }
summary.line:hover { background: var(--ground); }
summary.line:focus-visible { outline-offset: -3px; border-radius: 1rem; }
.chevron { display: none; width: 1rem; height: 1rem; color: var(--soft); line-height: 0; transform: rotate(180deg); }
details[open] > summary > .chevron { display: block; }
details[open] > summary > .go { visibility: hidden; width: 0; padding-inline: 0; border-inline: 0; overflow: hidden; }
details[open] > summary > .handle { white-space: normal; }
.name { font-weight: 650; }
.new { background: var(--good-ground); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 1rem; box-shadow: var(--shade); padding: 1.25rem; }
.mark, .avatar { flex: none; }
.face { position: relative; }
.face .mark { position: absolute; inset-inline-end: -.3rem; bottom: -.3rem; width: 1.125rem; height: 1.125rem; border-radius: .35rem;
  box-shadow: 0 0 0 2px var(--card); }
.face .initial { font-size: .6875rem; }
.mark { width: 2.25rem; height: 2.25rem; display: block; border-radius: .6rem; }
.initial { display: grid; place-items: center; background: var(--soft); color: var(--card); font-weight: 700; }
.off .mark { filter: grayscale(1); opacity: .55; }
.state { font-size: .8125rem; color: var(--soft); }
.state svg { width: 1em; height: 1em; vertical-align: -.125em; margin-inline-end: .3rem; }
.state.is-good { color: var(--good); font-weight: 600; }
.state.is-bad { color: var(--warn); font-weight: 600; }
.body { display: grid; grid-template-columns: minmax(0, 1fr); gap: .75rem; padding: .25rem .875rem 1rem; }
.body .note { margin: 0; }
.avatar { position: relative; display: grid; place-items: center; width: 2.25rem; height: 2.25rem; border-radius: 50%;
  overflow: hidden; border: 1px solid var(--line); background: var(--ground); color: var(--soft); font-weight: 650; }
.avatar img { position: absolute; height: 100%; }
form { display: grid; gap: .75rem; }
.field { display: grid; gap: .375rem; }
label { font-weight: 600; }
.hint { display: block; font-weight: 400; font-size: .875rem; color: var(--soft); }
.error { display: flex; gap: .4rem; color: var(--bad); font-weight: 600; font-size: .9375rem; line-height: 1.4; }
.error svg { flex: none; width: 1em; height: 1em; margin-top: .2em; }
input, select { width: 100%; min-height: 2.75rem; padding: .55rem .75rem; font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--edge); border-radius: .6rem; }
input:focus-visible, select:focus-visible { outline: 3px solid var(--accent-ink); outline-offset: -2px; }
input[readonly] { color: var(--soft); background: var(--ground); border-color: var(--line); }
input::placeholder { color: var(--soft); opacity: 1; }
[aria-invalid] { border-color: var(--bad); }
[aria-invalid]:focus-visible { outline-color: var(--bad); }
button, .button, .pill { display: inline-flex; align-items: center; justify-content: center; min-height: 2.75rem; padding: .55rem 1.1rem;
  font: inherit; font-weight: 600; text-align: center; text-decoration: none; cursor: pointer; border-radius: .6rem;
  --on: var(--on-accent); color: var(--on); background: var(--accent); border: 1px solid var(--accent-ink); }
.pill, .go button { min-height: 2.75rem; padding: .4rem .75rem; font-size: .9375rem; white-space: nowrap; }
button:hover, .button:hover, summary:hover > .pill { background: var(--accent-hover); }
.quiet, .body:has(> details[open]) > form > button, main:has(.row > details[open]) .end button { --on: var(--ink);
  background: transparent; border-color: var(--edge); }
.grave { --on: var(--bad); background: transparent; border-color: var(--bad); }
.quiet:hover, .body:has(> details[open]) > form > button:hover, main:has(.row > details[open]) .end button:hover,
summary:hover > .pill.quiet { background: color-mix(in srgb, var(--ink) 8%, transparent); }
.grave:hover { background: var(--bad-ground); }
/* A button that was pressed keeps the focus while the next page is on its way. Then its label makes room for a wheel. */
form button { position: relative; }
form button:focus:not(:focus-visible, :active) { cursor: progress; }
@media (prefers-reduced-motion: no-preference) {
  form button:focus:not(:focus-visible, :active) { animation: fade ${BUSY_SECONDS}s; }
  form button:focus:not(:focus-visible, :active)::after { content: ""; position: absolute; inset: 0; margin: auto; width: 1.125rem;
    height: 1.125rem; border: 2px solid var(--on); border-inline-end-color: transparent; border-radius: 50%; opacity: 0;
    animation: appear ${BUSY_SECONDS}s, turn .8s linear infinite; }
}
@media (prefers-reduced-motion: reduce) { form button:focus:not(:focus-visible, :active) { opacity: .7; } }
@keyframes fade { 2%, 98% { color: transparent; } }
@keyframes appear { 2%, 98% { opacity: 1; } }
@keyframes turn { to { transform: rotate(1turn); } }
:focus-visible { outline: 3px solid var(--ink); outline-offset: 2px; }
[tabindex="-1"]:focus { outline: none; }
summary { cursor: pointer; color: var(--accent-ink); font-weight: 600; padding: .5rem 0; min-height: 2.5rem; }
.body > details > form { margin-top: .5rem; }
.leave > summary { color: var(--bad); }
fieldset { border: 0; margin: 0; padding: 0; min-width: 0; display: grid; gap: .5rem; }
legend { font-weight: 600; padding: 0; margin-bottom: .5rem; }
.choice { display: flex; gap: .75rem; align-items: center; min-height: 3.25rem; padding: .5rem .875rem; border: 1px solid var(--edge);
  border-radius: .6rem; cursor: pointer; }
.choice:has(:disabled) { border-style: dashed; color: var(--soft); cursor: default; }
.choice:has(:disabled) .avatar { opacity: .6; }
.choice input { width: 1.15rem; min-height: 1.15rem; margin: 0; flex: none; accent-color: var(--accent-ink); }
.choice:has(:checked) { border-color: var(--accent-ink); box-shadow: inset 0 0 0 1px var(--accent-ink); }
.ahead { display: flex; align-items: center; gap: .875rem; margin-bottom: .75rem; }
.ahead h1 { margin: 0; }
.seal { display: grid; place-items: center; width: 3rem; height: 3rem; border-radius: 50%; margin-bottom: .875rem;
  color: var(--good); background: var(--good-ground); border: 1px solid; }
.seal svg { width: 1.4rem; }
.linked { margin-top: 1.25rem; box-shadow: none; }
.end { margin-top: .625rem; }
.actions { display: flex; gap: .75rem; flex-wrap: wrap; align-items: center; }
.actions > button:only-child, .actions > button:has(+ a) { flex: 1 1 100%; }
.card > .actions { margin-top: 1.25rem; }
.tail, footer { font-size: .8125rem; line-height: 1.4; color: var(--soft); }
p.tail, footer { margin-top: .625rem; }
.body > p.tail { margin-top: 0; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
footer ul { list-style: none; display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin: 0; padding: 0; }
footer a { display: inline-block; padding: .25rem 0; color: inherit; font-weight: 400; }
@media (min-width: 36rem) {
  .wrap { padding: 3rem 1.5rem 4rem; }
  .brand { margin-bottom: 1.5rem; }
  h1 { font-size: 1.75rem; }
  .terms { margin-bottom: 1.25rem; }
  .line { min-height: 4rem; padding: .625rem 1.25rem; }
  .terms, .state, .tail, footer { font-size: .875rem; }
  .terms { font-size: .9375rem; }
  .line > .handle { grid-column: 2; }
  .line > .go, .line > .chevron { grid-row: 1 / span 3; }
  .body { padding: .25rem 1.25rem 1.25rem 4.25rem; }
  .card { padding: 2rem; }
  .steps { justify-content: start; gap: 1.5rem; font-size: .875rem; margin: 1.25rem 0; }
  .actions > button { flex: none !important; }
  button { justify-self: start; }
}
`;
