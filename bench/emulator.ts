import { startAzurite } from "../dev/azurite.ts";

export interface BenchStorage {
  readonly tables: string;
  readonly queues: string;
  stop(): Promise<void>;
}

/**
 * Tables and queues in two processes: in one they would share a core, which the real services do not. Each emulator is
 * a whole one whose other services stay idle. Nothing is kept.
 */
export async function startBenchStorage(): Promise<BenchStorage> {
  const started = await Promise.allSettled([
    startAzurite({ inMemory: true }),
    startAzurite({ inMemory: true }),
  ]);
  const [tables, queues] = started.map((one) =>
    one.status === "fulfilled" ? one.value : undefined,
  );
  const stop = async () => {
    await Promise.all([tables?.stop(), queues?.stop()]);
  };
  if (tables === undefined || queues === undefined) {
    await stop();
    throw new Error("the storage emulator did not start", {
      cause: started.find((one) => one.status === "rejected")?.reason,
    });
  }
  return { tables: tables.connectionString, queues: queues.connectionString, stop };
}
