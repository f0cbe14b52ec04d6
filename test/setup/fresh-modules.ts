import { vi } from "vitest";

/**
 * A file of tests gets modules of its own, as if it had a process of its own: what they keep, such as the time of the
 * latest id, is not the next file's. Packages stay loaded.
 */
vi.resetModules();
