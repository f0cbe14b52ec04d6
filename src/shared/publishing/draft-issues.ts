import type { Issue } from "../runtime/errors.ts";
import { instant } from "../runtime/fields.ts";
import type { Draft } from "./post.ts";
import { scheduleIssues } from "./schedule/schedule.ts";

/** The fields of a request, parsed or as they came: any of them may be missing or of another type. */
type Fields = Readonly<Record<string, unknown>>;

const lengthOf = (value: unknown) => (Array.isArray(value) ? value.length : 0);

/** What is wrong between fields that may each be right. Of fields that are wrong in themselves the schema tells. */
export function crossFieldIssues({
  altTexts,
  mediaUrls,
  platforms,
  platformOptions,
}: Fields): readonly Issue[] {
  const issues: Issue[] = [];
  const isComparable = Array.isArray(mediaUrls) || mediaUrls === undefined;
  if (isComparable && lengthOf(altTexts) > 0 && lengthOf(altTexts) !== lengthOf(mediaUrls))
    issues.push({ path: "altTexts", code: "custom", message: "must be as long as mediaUrls" });
  const isNamed = typeof platformOptions === "object" && platformOptions !== null;
  if (!Array.isArray(platforms) || !isNamed) return issues;
  for (const name of Object.keys(platformOptions))
    if (!platforms.includes(name))
      issues.push({
        path: `platformOptions.${name}`,
        code: "custom",
        message: "is not one of the post's platforms",
      });
  return issues;
}

/** What would be wrong with a new post beside what its schema refuses. */
export function issuesOfDraft(body: Fields, now: Date): readonly Issue[] {
  return [...crossFieldIssues(body), ...scheduleIssues(timeIn(body), now)];
}

/** What is wrong with a change of a stored draft; the time that it has may have passed meanwhile. */
export function issuesOfChange(before: Draft, change: Fields, now: Date): readonly Issue[] {
  const { networks: platforms, scheduleAt, ...rest } = before;
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  const fields = { ...rest, platforms, ...Object.fromEntries(given) };
  const time = timeIn(change);
  return [...crossFieldIssues(fields), ...scheduleIssues(time === scheduleAt ? null : time, now)];
}

function timeIn({ scheduleAt }: Fields): string | null {
  return instant().safeParse(scheduleAt).data ?? null;
}
