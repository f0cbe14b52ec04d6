import type { Random } from "../model/random.ts";
import { startFaultProxy } from "../setup/fault-proxy.ts";
import type { Fault, FaultProxy, MessageFault } from "../setup/fault-proxy.ts";

const DROPPED = 0.06;
const DOUBLED = 0.06;
const LATE = 0.03;

export interface MessageCounts {
  sent: number;
  dropped: number;
  doubled: number;
  /** Sent too, and the sender was told that they were not. */
  late: number;
}

export interface QueueWeather {
  readonly counts: MessageCounts;
  /** The storage account's connection string with the proxy in front of its queues. */
  readonly connectionString: string;
  /** From now on every message is sent once. */
  calm(): void;
  stop(): Promise<void>;
}

const QUEUE_PORT = /(QueueEndpoint=http:\/\/127\.0\.0\.1:)(\d+)/;

/** Loses and doubles messages between the product and the queues of a local storage account. */
export async function startQueueWeather(
  connectionString: string,
  random: Random,
): Promise<QueueWeather> {
  const counts: MessageCounts = { sent: 0, dropped: 0, doubled: 0, late: 0 };
  let isCalm = false;
  const choose = (): Fault | MessageFault => {
    const dice = random.next();
    counts.sent += 1;
    if (isCalm || dice > DROPPED + DOUBLED + LATE) return "pass";
    if (dice < DROPPED) {
      counts.dropped += 1;
      return "swallow";
    }
    if (dice < DROPPED + DOUBLED) {
      counts.doubled += 1;
      return "twice";
    }
    counts.late += 1;
    return "late";
  };
  const port = QUEUE_PORT.exec(connectionString)?.[2];
  if (port === undefined) throw new Error("the storage account has no local queues");
  const proxy: FaultProxy = await startFaultProxy(Number(port), ({ method, path }) =>
    method === "POST" && /\/messages(\?|$)/.test(path) ? choose() : "pass",
  );
  return {
    counts,
    connectionString: connectionString.replace(QUEUE_PORT, `$1${proxy.port}`),
    calm() {
      isCalm = true;
    },
    stop: () => proxy.stop(),
  };
}
