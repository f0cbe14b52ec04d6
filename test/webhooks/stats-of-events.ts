import { dataOf, type TestApplication } from "../setup/factories.ts";
import type { Answer, Relay } from "../setup/relay.ts";

/** The parsed JSON of an answer. */
type Data = Answer["body"];

/** Every event of an application that is listed now. */
export async function allEvents(relay: Relay, { key }: TestApplication): Promise<Data[]> {
  const events: Data[] = [];
  for (let cursor = ""; ;) {
    const answer = await relay.call("GET", `/v1/events?limit=100${cursor}`, { key });
    events.push(...dataOf(answer));
    const { nextCursor } = answer.body.page;
    if (nextCursor === null) return events;
    cursor = `&cursor=${nextCursor}`;
  }
}

/** What events say that ended on each day, counted in another way than the product does. */
export function statsOfEvents(events: readonly Data[]): Data[] {
  const days = Map.groupBy(
    events.filter(({ type }) =>
      [
        "post.succeeded",
        "post.partial",
        "post.failed",
        "post.canceled",
        "leg.succeeded",
        "leg.failed",
      ].includes(type),
    ),
    ({ createdAt }) => createdAt.slice(0, 10) as string,
  );
  return [...days]
    .toSorted(([left], [right]) => left.localeCompare(right))
    .map(([day, own]) => {
      const count = (of: string) => own.filter(({ type }) => type === of).length;
      const legs = Map.groupBy(
        own.filter(({ data }) => data.leg !== undefined),
        ({ data }) => data.leg.platform as string,
      );
      return {
        day,
        posts: {
          succeeded: count("post.succeeded"),
          partial: count("post.partial"),
          failed: count("post.failed"),
          canceled: count("post.canceled"),
        },
        legs: Object.fromEntries(
          [...legs].map(([network, ofNetwork]) => {
            const failed = ofNetwork.filter(({ type }) => type === "leg.failed");
            const codes = Map.groupBy(failed, ({ data }) => data.leg.error.code as string);
            return [
              network,
              {
                succeeded: ofNetwork.length - failed.length,
                failed: failed.length,
                failedBy: Object.fromEntries([...codes].map(([code, of]) => [code, of.length])),
              },
            ];
          }),
        ),
      };
    });
}
