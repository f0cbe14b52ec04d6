import { styleText } from "node:util";

/** Color only where a terminal shows it; the function of Node itself heeds NO_COLOR and its kin. */
function styled(style: Parameters<typeof styleText>[0]): (text: string) => string {
  return (text) => styleText(style, text, { stream: process.stdout });
}

export const strong = styled("bold");
export const soft = styled("dim");
export const good = styled("green");
export const uncertain = styled("yellow");
export const bad = styled("red");
