import { RelayConnectionError } from "./errors.ts";

export interface Page<Item> {
  readonly data: readonly Item[];
  readonly page: {
    readonly nextCursor: string | null;
    readonly hasMore: boolean;
    readonly limit: number;
  };
}

/** Items of a list. Each page is requested when it is needed; a page that is filtered may be empty. */
export class RelayList<Item> implements AsyncIterable<Item> {
  readonly #readPage: (cursor: string | undefined) => Promise<Page<Item>>;

  constructor(readPage: (cursor: string | undefined) => Promise<Page<Item>>) {
    this.#readPage = readPage;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Item, void> {
    for await (const { data } of this.pages()) yield* data;
  }

  /** Returns the pages, with their cursors. */
  async *pages(): AsyncGenerator<Page<Item>, void> {
    let cursor: string | undefined;
    do {
      const page = await this.#readPage(cursor);
      yield page;
      const { hasMore, nextCursor } = page.page;
      if (hasMore && nextCursor !== null && nextCursor === cursor)
        throw new RelayConnectionError("The list goes on where it was.", {});
      cursor = hasMore && nextCursor !== null ? nextCursor : undefined;
    } while (cursor !== undefined);
  }
}
