type Rgb = readonly [number, number, number];

function parse(color: string): Rgb {
  const part = (start: number) => Number.parseInt(color.slice(start, start + 2), 16);
  return [part(1), part(3), part(5)];
}

function format(rgb: Rgb): string {
  return `#${rgb.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = parse(color).map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** WCAG 2.2: 1 for equal colours (`#rrggbb`), 21 for black on white. */
export function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].toSorted((a, b) => b - a);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

/** Black or white, whichever reads better: for any colour at all that is at least 4.5 to 1. */
export function textOn(color: string): string {
  return contrast(color, "#ffffff") >= contrast(color, "#000000") ? "#ffffff" : "#000000";
}

const TEXT_CONTRAST = 4.5;
const STEPS = 24;

function mixed(color: string, towards: string, share: number): string {
  const other = parse(towards);
  const [red, green, blue] = parse(color);
  const mix = (part: number, index: 0 | 1 | 2) => Math.round(part + (other[index] - part) * share);
  return format([mix(red, 0), mix(green, 1), mix(blue, 2)]);
}

/** The colour itself where it can be read on all of the grounds, else the nearest darker or lighter one that can. */
export function readableOn(color: string, grounds: readonly string[]): string {
  const towards = textOn(grounds[0] ?? "#ffffff");
  for (let step = 0; step < STEPS; step += 1) {
    const candidate = mixed(color, towards, step / STEPS);
    if (grounds.every((ground) => contrast(candidate, ground) >= TEXT_CONTRAST)) return candidate;
  }
  return towards;
}
