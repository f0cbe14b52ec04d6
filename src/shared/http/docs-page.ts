import type { Chapter } from "./chapter.ts";

export function docsPage(_chapters: readonly Chapter[], _baseUrl: string) {
  return { text: "", headers: [] as readonly (readonly [string, string])[] };
}
