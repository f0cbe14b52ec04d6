import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readAroundRevoke } from "../http/access/revoked-elsewhere.ts";
import { WINDOW_MS } from "../../src/shared/limits/sliding-window.ts";
import {
  dataOf,
  startRelayProcess,
  type Answer,
  type RelayProcess,
} from "../process/relay/relay-process.ts";

const INSTANCES = 3;
const REQUESTS = 1_000;
/** Under way at any time; a call that waited for all others would take too long on a busy machine. */
const AT_ONCE = 240;
const LIMIT = 300;
/** Requests of the same key before the thousand: the set-up makes a profile with it. */
const USED_BEFORE = 1;
/** Attempts of a revoke; a thousand are in the long check. */
const ROUNDS = 6;

let instances: RelayProcess[] = [];
let key: string;
let owner: { readonly session: string; readonly applicationId: string; readonly profileId: string };

beforeAll(async () => {
  const settings = {
    RATE_LIMIT_PER_MINUTE: String(LIMIT),
    STORAGE_PREFIX: `w${randomBytes(5).toString("hex")}`,
  };
  instances = await Promise.all(
    Array.from({ length: INSTANCES }, () => startRelayProcess({ settings })),
  );
  const [first] = instances;
  if (first === undefined) throw new Error("no instance");
  const email = `owner-${randomBytes(8).toString("hex")}@example.com`;
  const signUp = { email, password: "a password of some length", platformName: "Corner Media" };
  const { token } = dataOf(await first.call("POST", "/v1/auth/signup", { body: signUp }));
  const application = dataOf(
    await first.call("POST", "/v1/applications", { bearer: token, body: { name: "Planner" } }),
  );
  key = application.apiKey.secret;
  const profile = dataOf(
    await first.call("POST", "/v1/profiles", { bearer: key, body: { title: "Corner" } }),
  );
  owner = {
    session: String(token),
    applicationId: String(application.id),
    profileId: String(profile.id),
  };
});
afterAll(() => Promise.all(instances.map((instance) => instance.stop())));

test("posts are not read once a revoke was answered by another process", async () => {
  const [one, other] = instances;
  if (one === undefined || other === undefined) throw new Error("no instances");
  for (let round = 0; round < ROUNDS; round += 1) {
    const [office, branch] = round % 2 === 0 ? [one, other] : [other, one];
    const told = await readAroundRevoke({ office, branch }, owner, "/v1/posts");
    expect(told).toEqual([200, 200, 401]);
  }
});

test(
  "of 1,000 requests within seconds to three processes with one key, the limit of 300 and at most a tenth more are served",
  { timeout: 120_000 },
  async () => {
    const startedAt = Date.now();
    const answers: Answer[] = [];
    let asked = 0;
    const askOn = async (): Promise<void> => {
      while (asked < REQUESTS) {
        const instance = instances[asked % INSTANCES];
        asked += 1;
        if (instance === undefined) throw new Error("no instance");
        answers.push(await instance.call("GET", "/v1/rate-card", { bearer: key }));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, askOn));
    const endedAt = Date.now();
    const byStatus = (status: number) => answers.filter((answer) => answer.status === status);
    const [served, refused] = [byStatus(200), byStatus(429)];
    expect(served.length + refused.length).toBe(REQUESTS);
    expect(served.length).toBeGreaterThanOrEqual(LIMIT - USED_BEFORE);
    // Places that came free when a new minute began while the requests were under way.
    const boundary = Math.ceil(startedAt / WINDOW_MS) * WINDOW_MS;
    const freed = (Math.max(0, endedAt - boundary) / WINDOW_MS) * LIMIT;
    expect(served.length).toBeLessThanOrEqual(LIMIT * 1.1 + freed);

    const wait = ({ headers }: Answer) => Number(headers.get("retry-after"));
    for (const answer of refused) {
      expect(answer.body.error.code).toBe("rate_limited");
      expect(wait(answer)).toBeGreaterThanOrEqual(1);
      expect(wait(answer)).toBeLessThanOrEqual(62);
    }
  },
);
