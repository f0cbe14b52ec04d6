import { expect, test } from "vitest";
import type { Profile } from "../../src/shared/tenants/profiles/profile.ts";
import { nameViolations } from "../model/simulation/lists.ts";
import { dyingAt } from "../setup/dying-relay.ts";
import { anApplication, aProfile, type TestApplication } from "../setup/factories.ts";
import { DEATHS_APART } from "../setup/long-check.ts";
import type { Relay } from "../setup/relay.ts";
import { useTwoProcesses } from "../setup/use-relay.ts";
import { eraseProfiles } from "../setup/walks.ts";

const { relay, instance } = useTwoProcesses();
/** More than any of these changes writes. */
const WRITES_MAX = 20;
const ERASURE_WRITES_MAX = 60;

const profilesOf = async ({ platform: { id } }: TestApplication): Promise<readonly Profile[]> => {
  const { profiles } = relay.services.tenants.stores;
  return (await profiles.list(id, { applicationId: null }, { after: undefined, limit: 50 })).items;
};

/** What is wrong with the names by which an application's profiles are found. */
async function wrongNames(application: TestApplication): Promise<string[]> {
  const { profiles } = relay.services.tenants.stores;
  const ids = { platformId: application.platform.id, applicationId: application.id };
  const names = await profiles.listNames({ ...ids, beginning: "", at: undefined, rows: 50 });
  return nameViolations(names, await profilesOf(application));
}

interface Change {
  readonly act: (process: Relay, application: TestApplication, id: string) => Promise<unknown>;
  /** The names of the profile that is changed, or of the one that is created, afterwards. */
  readonly end: readonly [title: string, externalId: string | null];
}

const patch =
  (body: object): Change["act"] =>
  (process, { key }, id) =>
    process.call("PATCH", `/v1/profiles/${id}`, { key, body });

const CHANGES: Readonly<Record<string, Change>> = {
  "creates a profile": {
    act: (process, { key }) =>
      process.call("POST", "/v1/profiles", { key, body: { title: "New", externalId: "fresh" } }),
    end: ["New", "fresh"],
  },
  "renames a profile": { act: patch({ title: "After" }), end: ["After", "mine"] },
  "changes its external id": { act: patch({ externalId: "yours" }), end: ["Before", "yours"] },
  "gives it one name twice": { act: patch({ externalId: "BEFORE" }), end: ["Before", "BEFORE"] },
  "swaps its names": {
    act: patch({ title: "Mine", externalId: "before" }),
    end: ["Mine", "before"],
  },
  "removes its external id": { act: patch({ externalId: null }), end: ["Before", null] },
};

test.each(Object.entries(CHANGES))(
  "a process that %s and dies before or after any of its writes leaves names that are exact",
  { timeout: 60_000 },
  async (_, { act, end }) => {
    for (const moment of ["before", "after"] as const) {
      let result: Awaited<ReturnType<typeof dyingAt>> = "died";
      let nth = 1;
      for (; result === "died" && nth < WRITES_MAX; nth += DEATHS_APART) {
        const application = await anApplication(relay);
        const { id } = await aProfile(relay, application, { title: "Before", externalId: "mine" });
        expect(await wrongNames(application), `prepared ${nth}`).toEqual([]);
        const isDone = async () =>
          (await profilesOf(application)).some(
            ({ title, externalId }) => title === end[0] && externalId === end[1],
          );
        result = await dyingAt(relay, { nth, moment }, (process) => act(process, application, id));
        expect(await wrongNames(application), `death ${nth} ${moment}`).toEqual([]);
        if (!(await isDone())) await act(relay, application, id);
        expect(await isDone()).toBe(true);
        expect(await wrongNames(application), `after ${nth} ${moment}`).toEqual([]);
      }
      expect(result).toBe("lived");
      expect(nth).toBeGreaterThan(1 + DEATHS_APART);
    }
  },
);

test("ten changes of one profile at two processes leave names that are exact", async () => {
  const application = await anApplication(relay);
  const { id } = await aProfile(relay, application, { title: "Before", externalId: "mine" });
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      patch(index % 2 === 0 ? { title: `Title ${index}` } : { externalId: `ref ${index}` })(
        index % 4 < 2 ? relay : instance,
        application,
        id,
      ),
    ),
  );
  expect(answers.map((answer) => (answer as { status: number }).status)).toEqual(
    Array.from({ length: 10 }, () => 200),
  );
  expect(await wrongNames(application)).toEqual([]);
});

test(
  "an erasure that dies at any of its writes leaves no name of what is gone",
  { timeout: 120_000 },
  async () => {
    let result: Awaited<ReturnType<typeof dyingAt>> = "died";
    for (let nth = 1; result === "died" && nth < ERASURE_WRITES_MAX; nth += DEATHS_APART) {
      const application = await anApplication(relay);
      const { id } = await aProfile(relay, application, { title: "Before", externalId: "mine" });
      const moment = nth % 2 === 0 ? "before" : "after";
      const erase = async (process: Relay, rounds: number) => {
        await process.call("POST", `/v1/profiles/${id}/erase`, { key: application.key });
        for (let round = 0; round < rounds; round += 1) {
          await eraseProfiles(process.services);
          relay.advance(11 * 60_000);
        }
      };
      result = await dyingAt(relay, { nth, moment }, (process) => erase(process, 6));
      expect(await wrongNames(application), `death ${nth}`).toEqual([]);
      await erase(relay, 6);
      expect(await profilesOf(application)).toEqual([]);
      expect(await wrongNames(application), `after ${nth}`).toEqual([]);
    }
    expect(result).toBe("lived");
  },
);
