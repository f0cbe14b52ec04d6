import type { MediaFile } from "../../networks/contract/media.ts";
import type { NetworkTools } from "../../networks/contract/tools.ts";

export interface OpenedFiles {
  readonly tools: NetworkTools;
  /** Ends what is still open: transfers, and what is held in memory of files whose servers tell no size. */
  close(): Promise<void>;
}

/** The tools, with every file that was opened with them kept in mind, so that none stays open behind its leg. */
export function keepingOpened(tools: NetworkTools): OpenedFiles {
  const files: MediaFile[] = [];
  return {
    tools: {
      ...tools,
      async openMedia(url, limits) {
        const file = await tools.openMedia(url, limits);
        files.push(file);
        return file;
      },
    },
    async close() {
      await Promise.allSettled(files.splice(0).map((file) => file.close()));
    },
  };
}
