import { startAzurite } from "../../../dev/azurite.ts";
import { buildApp } from "../../../tools/build.ts";
import { runSoak } from "./soak.ts";

const SECONDS = 900;
const HOSTS = 3;
const POSTS_PER_SECOND = 2;

function numberOf(name: string, otherwise: number): number {
  const text = process.env[name];
  if (text === undefined || text === "") return otherwise;
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new Error(`${name} must be a whole number above 0, not ${text}`);
  return number;
}

const options = {
  seconds: numberOf("SOAK_SECONDS", SECONDS),
  hosts: numberOf("SOAK_HOSTS", HOSTS),
  postsPerSecond: numberOf("SOAK_POSTS_PER_SECOND", POSTS_PER_SECOND),
  seed: numberOf("SOAK_SEED", Date.now() % 1_000_000),
};
await buildApp();
const azurite = await startAzurite({ inMemory: true });
try {
  const { text, violations } = await runSoak({
    ...options,
    connectionString: azurite.connectionString,
  });
  process.stdout.write(`${text}\n`);
  process.exitCode = violations.length === 0 ? 0 : 1;
} finally {
  await azurite.stop();
}
