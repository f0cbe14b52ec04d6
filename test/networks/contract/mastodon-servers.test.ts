import { beforeAll, describe, expect, test } from "vitest";
import {
  AKKOMA_HOST,
  FIREFISH_HOST,
  FRIENDICA_HOST,
  ICESHRIMP_HOST,
  LENIENT_HOST,
  PLEROMA_HOST,
  SHARKEY_HOST,
  SMALL_HOST,
  STRICT_HOST,
} from "../../../sandbox/mastodon/state.ts";
import { IS_LONG } from "../../setup/long-check.ts";
import { CONTRACTS } from "./contracts.ts";
import { expectTruth, runLeg, type Form } from "./leg-run.ts";
import { startSandboxWorld } from "./sandbox-world.ts";
import { expectWholeLedger } from "./steps.ts";
import { forFile } from "../../setup/for-file.ts";

const at = (name: string) => `https://media.sandbox.test/${name}`;

const KINDS = {
  text: {},
  markdown: { words: "**Bold**, *slanted* and `typed`" },
  image: { body: { mediaUrls: [at("portrait.jpg")] } },
  "two images": { body: { mediaUrls: [at("portrait.jpg"), at("photo.jpg")] } },
  private: { body: { options: { visibility: "private" } } },
  direct: { body: { options: { visibility: "direct" } } },
} as const satisfies Record<string, Form>;
type Kind = keyof typeof KINDS;

/** Of what each server keeps no list that its accounts may read: there nothing tells what became of a call. */
const SERVERS: readonly (readonly [string, string, readonly Kind[]])[] = [
  ["Mastodon", STRICT_HOST, []],
  ["a server like GoToSocial", LENIENT_HOST, ["private", "direct"]],
  ["a server like Akkoma", AKKOMA_HOST, ["direct"]],
  ["a small server that looks like Mastodon", SMALL_HOST, ["private", "direct"]],
  ["a server like Friendica", FRIENDICA_HOST, ["private", "direct"]],
  ["a server like Sharkey", SHARKEY_HOST, ["private", "direct"]],
  ["a server like Pleroma", PLEROMA_HOST, ["direct"]],
  ["a server like Iceshrimp.NET", ICESHRIMP_HOST, ["private", "direct"]],
  ["a server like Firefish", FIREFISH_HOST, ["private", "direct"]],
];

const TROUBLES = [
  ["the request is lost", "drop-before"],
  ["the answer is lost", "drop-answer"],
  ["it fails before it makes the post", "html-502"],
  ["it says so in its own words", "fail:network_unavailable"],
  ["it fails after it made the post", "error-after"],
  ["the process is killed before the call", "kill-before"],
  ["the process is killed after the call", "kill-after"],
] as const;

/** What `npm test` takes: each server, kind and trouble, but not all of their combinations. */
const isInShort = (server: number, kind: number, trouble: number): boolean =>
  trouble < 2
    ? kind >= 2 || server === 3 || (server + kind) % 2 === trouble
    : (server + kind) % 5 === trouble - 2;

const world = forFile(() => startSandboxWorld("mastodon", CONTRACTS.mastodon));

describe.each(SERVERS.map((server, index) => [...server, index] as const))(
  "on %s",
  (_, instance, unlisted, server) => {
    const kinds = Object.keys(KINDS) as Kind[];

    describe.each(kinds.map((kind, index) => [kind, index] as const))("%s", (kind, index) => {
      const form: Form = { ...KINDS[kind], as: { instance } };

      // A list proves something where it shows another post of the kind.
      beforeAll(async () => {
        const run = await runLeg(world, form);
        expectTruth(run, "without trouble");
        expect(run.leg.status).toBe("succeeded");
      });

      const troubles = TROUBLES.filter((__, nth) => IS_LONG || isInShort(server, index, nth));

      test.each(troubles)("a post is out once at the most when %s", async (__, fault) => {
        const step = { route: "statuses", nth: 1 };
        const run = await runLeg(world, form, { step, fault });
        expectTruth(run, fault);
        expect(world.wire.isTroubled).toBe(true);
        const end = unlisted.includes(kind) ? "outcome_unknown" : "succeeded";
        expect(run.leg.error?.code ?? run.leg.status).toBe(end);
      });
    });

    test("nothing is charged for what is not known", () => expectWholeLedger(world));
  },
);
