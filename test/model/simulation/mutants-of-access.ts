import type { PartitionOperation } from "../../../src/shared/partition/partition.ts";
import type { Services } from "../../../src/shared/compose.ts";
import { fence } from "./fence.ts";
import type { Mutant } from "./mutant.ts";
import { replaceIn } from "../../setup/replace-in.ts";
import { committing, lastOf } from "./mutation.ts";

/** What a store's method answered, under the access version that the process knew then. */
interface Remembered {
  readonly version: string | undefined;
  readonly answer: unknown;
}

/** Changes of access are committed without the version that they raise, which `raise` may do apart. */
function withoutVersion(
  { ledger: { partitions } }: Services,
  raise: (platformId: string) => void,
): void {
  const without =
    (former: typeof partitions): typeof partitions.commit =>
    async <Answer>(platformId: string, operation: PartitionOperation<Answer>) => {
      let isRaised = false;
      const answer = await former.commit<Answer>(platformId, {
        ...operation,
        decide(view, tried) {
          const decision = operation.decide(view, tried);
          if (decision.kind !== "write" || decision.accessVersion === undefined) return decision;
          isRaised = true;
          const { accessVersion: _, ...rest } = decision;
          return rest;
        },
      });
      if (isRaised) raise(platformId);
      return answer;
    };
  replaceIn(partitions, (former) => ({ commit: without(former) }));
}

/** Rows count as read for a request when they were read under the version that the process knows. */
function refusingOnKept({
  ledger: { partitions },
  tenants: {
    stores: { keys, platforms, applications, profiles },
  },
}: Services): void {
  const remembered = new Map<string, Remembered>();
  const once = async <Answer>(
    name: string,
    platformId: string | undefined,
    read: () => Promise<Answer>,
  ): Promise<Answer> => {
    const version = platformId === undefined ? undefined : partitions.lastAccessVersion(platformId);
    const before = remembered.get(name);
    // Safe: each name stands for answers of one type.
    if (version !== undefined && before?.version === version) return before.answer as Answer;
    const answer = await read();
    remembered.set(name, { version, answer });
    return answer;
  };
  replaceIn(keys, (former) => ({
    findWithHash: (id) =>
      once(`K|${id}`, keys.bindingOf(id)?.platformId, () => former.findWithHash(id)),
  }));
  replaceIn(platforms, (former) => ({
    findAccess: (id) => once(`P|${id}`, id, () => former.findAccess(id)),
  }));
  replaceIn(applications, (former) => ({
    find: (owner, id) => once(`A|${id}`, owner, () => former.find(owner, id)),
  }));
  replaceIn(profiles, (former) => ({
    find: (owner, id) => once(`F|${id}`, owner, () => former.find(owner, id)),
  }));
}

/** Without a part of what keeps from being used what was taken away. */
export const MUTANTS_OF_ACCESS: readonly Mutant[] = [
  {
    name: "F1: a change of access leaves the access version as it is",
    era: 51,
    shownBy: fence,
    services: (services) => withoutVersion(services, () => undefined),
  },
  {
    name: "F2: a change of access is answered before the access version is raised",
    era: 52,
    firstSeed: 23,
    shownBy: fence,
    services: (services) =>
      withoutVersion(services, (platformId) => {
        // No caller waits for it, nor gets its failure.
        services.ledger.partitions.raiseAccess(platformId).catch(() => undefined);
      }),
  },
  {
    name: "F3: rows are kept under the access version that is read after them",
    era: 53,
    isRare: true,
    shownBy: fence,
    services({ access: { accessCache }, ledger: { partitions } }) {
      replaceIn(accessCache, (former) => ({
        add: (platformId, row) => {
          partitions
            .readAccessVersion(platformId)
            .then((version) => former.add(platformId, { ...row, version }))
            .catch(() => undefined);
        },
      }));
    },
  },
  {
    name: "F4: a refusal is told on kept rows",
    era: 54,
    shownBy: fence,
    services: refusingOnKept,
  },
  {
    name: "F5: the accepting transaction compares no access version",
    era: 55,
    shownBy: fence,
    services: (services) =>
      committing(services, (operation) =>
        operation.id.startsWith("accept|")
          ? {
              ...operation,
              decide: (view, tried) => {
                const accessVersion = lastOf(operation.id);
                return operation.decide({ ...view, accessVersion }, tried);
              },
            }
          : operation,
      ),
  },
  {
    name: "F6: a read does not look whether its access version is still the platform's",
    era: 56,
    shownBy: fence,
    services({ ledger: { partitions } }) {
      replaceIn(partitions, (former) => ({
        readAccessVersion: async (platformId) =>
          partitions.lastAccessVersion(platformId) ?? (await former.readAccessVersion(platformId)),
      }));
    },
  },
];
