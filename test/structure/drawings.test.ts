import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { aKey, dataOf } from "../setup/factories.ts";
import { aPublisher } from "../setup/publisher.ts";
import { DEMO_APP_PASSWORD, DEMO_HANDLE } from "../../sandbox/bluesky/state.ts";
import { Browser } from "../connections/browser.ts";
import { openWorld } from "../connections/world.ts";

const { FOLDERS } = (await import(resolve(".dependency-cruiser.mjs"))) as {
  readonly FOLDERS: readonly string[];
};

/** Returns the drawing of a page. */
function drawingOf(page: string): string {
  const drawing = /^```mermaid\n([\s\S]*?)^```$/m.exec(readFileSync(page, "utf8"))?.[1];
  if (drawing === undefined) throw new Error(`${page} has no drawing`);
  return drawing;
}

test("the drawing of the modules has every folder, in the order of the layers", () => {
  const boxes = [...drawingOf("docs/dev/architecture.md").matchAll(/(\w+)\["(\w+)<br>/g)];
  expect(boxes.map(([, id]) => id)).toEqual(FOLDERS);
  expect(boxes.map(([, , title]) => title)).toEqual(FOLDERS);
});

/** Returns every change of state that the table in `call.ts` has, as an arrow. */
function arrowsOfTable(): string[] {
  const lines = readFileSync("src/shared/publishing/call.ts", "utf8").split("\n");
  const from = lines.findIndex((line) => /^ \* +-{4}/.test(line));
  const columns = [...(lines[from] ?? "").matchAll(/-+/g)].map(({ index }) => index);
  const rows = lines.slice(from + 1).slice(0, lines.slice(from + 1).indexOf(" *"));
  expect(rows.length).toBeGreaterThan(15);
  return rows.flatMap((row) => {
    const cell = (column: number) => row.slice(columns[column], columns[column + 1]).trim();
    const next = cell(2);
    return cell(0)
      .split(/, ?/)
      .filter((state) => next !== state && next !== "as before")
      .map((state) => `${state === "none" ? "[*]" : state} --> ${next}`);
  });
}

test("the drawing of a call's life has the changes of state that its table has", () => {
  const drawn = drawingOf("docs/dev/life-of-a-post.md").matchAll(/(\S+ --> \w+)/g);
  const arrows = [...drawn].map(([, arrow = ""]) => arrow);
  expect(arrows.sort()).toEqual([...new Set(arrowsOfTable())].sort());
});

const partition = readFileSync("docs/dev/storage.md", "utf8").split("\n## Leases")[0] ?? "";
/** The kinds of rows of a platform's partition, each with its row key as the page writes it. */
const kinds = [
  ...partition.matchAll(/^\| `([^`]+)` +\| (?:`([^`]+)`|the post's, `([^`]+)`) /gm),
].map(([, kind = "", key, ofPost]) => ({
  kind,
  key: (key ?? `P\\|profile\\|inverted time\\|post${ofPost}`).split("\\|"),
}));
/** The groups of kinds that the drawing has. */
const groups = [...drawingOf("docs/dev/storage.md").matchAll(/(\w+)\["([^"]+<br>[^"]+)"\]/g)].map(
  ([, name = "", ofGroup = ""]) => ({ name, kinds: ofGroup.split("<br>") }),
);

test("the drawing of a platform's partition has every kind of row that its table has", () => {
  const drawn = groups.flatMap((group) => group.kinds);
  expect(drawn.sort()).toEqual(kinds.map(({ kind }) => kind).sort());
});

/** The group that a row belongs to, by its key: capital letters are the kind's, everything else is any text. */
function groupOf(rowKey: string): string {
  const parts = rowKey.split("|");
  const found = kinds.find(
    ({ key }) =>
      key.length === parts.length &&
      key.every((part, at) => !/^[A-Z]+$/.test(part) || part === parts[at]),
  );
  const group = groups.find((one) => found !== undefined && one.kinds.includes(found.kind));
  if (group === undefined) throw new Error(`${rowKey} is a row of no group`);
  return group.name;
}

test("the arrows of the drawing lead to the groups of rows that the transactions write", async () => {
  let written = new Set<string>();
  const world = await openWorld(
    {},
    {},
    {
      holdWrite({ table, rowKeys }) {
        // Every transaction writes the head, which is in no group.
        if (table === "core" && rowKeys.includes("H"))
          for (const rowKey of rowKeys) if (rowKey !== "H") written.add(rowKey);
        return undefined;
      },
    },
  );
  const during = async (act: () => Promise<unknown>) => {
    written = new Set();
    await act();
    return [...new Set([...written].map(groupOf))].sort();
  };
  try {
    const { relay } = world;
    const publisher = await aPublisher(relay, []);
    const { id: keyId } = await aKey(relay, publisher.application);
    const revoke = `/v1/keys/${keyId}/revoke`;
    const { key } = publisher;
    const sessions = `/v1/profiles/${publisher.profileId}/connect/sessions`;
    const { connectUrl } = dataOf(await relay.call("POST", sessions, { key }));
    const browser = new Browser(world);
    const form = await browser.get(connectUrl);
    const signIn = { identifier: DEMO_HANDLE, appPassword: DEMO_APP_PASSWORD };
    const found = {
      link: await during(() => browser.submit(form, "bluesky", signIn)),
      accept: await during(() => publisher.accept({ text: "Drawn", platforms: ["bluesky"] })),
      settle: await during(() => relay.drain()),
      revoke: await during(() => relay.call("POST", revoke, { key })),
    };
    const arrows = drawingOf("docs/dev/storage.md").matchAll(/^ +(\w+)\(\[.*\]\) --> (.+)$/gm);
    const drawn = [...arrows].map(([, name = "", to = ""]) => [name, to.split(" & ").sort()]);
    expect(found).toEqual(Object.fromEntries(drawn));
  } finally {
    await world.close();
  }
});
