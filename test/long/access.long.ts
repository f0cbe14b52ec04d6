import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { aPostToRead, readAroundRevoke } from "../http/access/revoked-elsewhere.ts";
import { aCustomer, type Customer } from "../process/relay/customer.ts";
import { startRelayProcess, type RelayProcess } from "../process/relay/relay-process.ts";
import { startWorld, type World } from "../process/relay/world.ts";

const ROUNDS = 1_000;

let world: World;
let processes: RelayProcess[] = [];
let customer: Customer;
let postId: string;

beforeAll(async () => {
  world = await startWorld();
  const settings = {
    ...world.settings,
    STORAGE_PREFIX: `a${randomBytes(5).toString("hex")}`,
    RATE_LIMIT_PER_MINUTE: "1000000",
    PLATFORM_RATE_PER_MINUTE: "1000000",
  };
  processes = await Promise.all([startRelayProcess({ settings }), startRelayProcess({ settings })]);
  const [office] = processes;
  if (office === undefined) throw new Error("no process");
  customer = await aCustomer(office, world);
  postId = await aPostToRead(office, customer);
});
afterAll(async () => {
  await Promise.all(processes.map((one) => one.stop()));
  await world?.stop();
});

/** Each of the two is the one that has kept rows in half of the rounds. */
test(
  "a post is not read once a revoke was answered by another process",
  { timeout: 20 * 60_000 },
  async () => {
    const [one, other] = processes;
    if (one === undefined || other === undefined) throw new Error("no processes");
    const answered = new Map<string, number>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const [office, branch] = round % 2 === 0 ? [one, other] : [other, one];
      const told = (
        await readAroundRevoke({ office, branch }, customer, `/v1/posts/${postId}`)
      ).join();
      answered.set(told, (answered.get(told) ?? 0) + 1);
    }
    process.stdout.write(`reads before and after a revoke: ${JSON.stringify([...answered])}\n`);
    expect([...answered]).toEqual([["200,200,401", ROUNDS]]);
  },
);
