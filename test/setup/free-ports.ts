import { once } from "node:events";
import { createServer } from "node:net";

/** Below those that systems give to outgoing connections and to servers that ask for any: nobody gets them by chance. */
const LOWEST = 15_000;
const HIGHEST = 32_000;

/**
 * Returns so many ports that nothing listens on, for programs that are told theirs and may be started on them again.
 * They stay free until then: whatever else runs beside a test asks for any port.
 */
export async function freePorts(count: number): Promise<readonly number[]> {
  const found = new Set<number>();
  while (found.size < count) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    if (await isFree(port)) found.add(port);
  }
  return [...found];
}

export async function freePort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
