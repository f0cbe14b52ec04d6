import type {
  BlobSASSignatureValues,
  ContainerClient,
  SASQueryParameters,
} from "@azure/storage-blob";
import { serviceUnavailable } from "../errors.ts";
import { inBatches } from "../promises.ts";
import { failureOf, isDefinite, retryHarmless } from "./failure.ts";

/** The container of customers' files. */
export const FILES_CONTAINER = "media";
/** How addresses are signed. Later versions add nothing that is used here, and no emulator checks them yet. */
const SIGNED_VERSION = "2025-11-05";
const CALL_TIMEOUT_MS = 10_000;
/**
 * Longer, because a piece of a file has up to some megabytes. All tries of one end before the shortest call in which a
 * piece is passed on (60 s), so that storage is named as the cause and not the network.
 */
const READ_TIMEOUT_MS = 15_000;
const REMOVALS_AT_ONCE = 8;
const PAGE_BLOBS = 200;

/** A container with the right to sign addresses in it. */
export interface BlobContainer {
  readonly client: ContainerClient;
  readonly sign: (values: BlobSASSignatureValues) => Promise<SASQueryParameters>;
  /** Whether addresses may be http, which is only true of an emulator. */
  readonly isInsecure: boolean;
}

/** What storage knows of a blob. */
export interface StoredBlob {
  readonly size: number;
  /** Changes with the content. */
  readonly etag: string;
  /** Whether readers get its bytes as they were sent. An uploader can have them archived, encrypted or named as coded. */
  readonly isReadable: boolean;
}

/** A part of a blob, in the version that was seen before. */
export interface BlobRange {
  readonly first: number;
  /** Included. */
  readonly last: number;
  readonly etag: string;
}

/** What a signed address allows to read, and how it is answered. */
export interface ReadAddress {
  readonly seconds: number;
  readonly contentType: string;
  /** The name under which a browser saves it. */
  readonly filename: string;
}

/** The blob, or the version of it that was seen before, isn't there or can't be read. */
export class MissingBlob extends Error {}

/**
 * The blobs of one container. Callers write blobs themselves, at signed addresses, so that the bytes don't pass through
 * this process. Signed addresses end by the clock of the storage service, so they are made by this machine's clock.
 */
export class Blobs {
  readonly #open: () => Promise<BlobContainer>;
  #container: Promise<BlobContainer> | undefined;

  constructor(open: () => Promise<BlobContainer>) {
    this.#open = open;
  }

  /** Makes an address at which a new blob can be created, once. It can't read, replace, list or remove one. */
  async createAddress(name: string, seconds: number): Promise<string> {
    return await this.#address(name, "c", seconds);
  }

  /** Makes an address at which anybody can read the blob, as an attachment. */
  async readAddress(
    name: string,
    { seconds, contentType, filename }: ReadAddress,
  ): Promise<string> {
    // A quoted string can't have these characters, and headers have no others than ASCII.
    const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
    const coded = encodeURIComponent(filename.toWellFormed()).replace(
      /['()*]/g,
      (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
    );
    const contentDisposition = `attachment; filename="${plain}"; filename*=UTF-8''${coded}`;
    // Replaces what the uploader may have said. A shared cache would show it to others, and for longer.
    const cacheControl = `private, max-age=${seconds}`;
    const shown = { contentType, contentDisposition, cacheControl };
    return await this.#address(name, "r", seconds, shown);
  }

  /** Checks that the container answers, and that addresses in it can be signed. Rejects otherwise. */
  async check(): Promise<void> {
    await this.#ask(async ({ client }) => {
      await client.getProperties({ abortSignal: AbortSignal.timeout(CALL_TIMEOUT_MS) });
    });
    await this.createAddress("readiness", 60);
  }

  /** Finds a blob's size and version. */
  async find(name: string): Promise<StoredBlob | undefined> {
    return await this.#ask(async ({ client }) => {
      try {
        const abortSignal = AbortSignal.timeout(CALL_TIMEOUT_MS);
        const found = await client.getBlobClient(name).getProperties({ abortSignal });
        const { contentLength: size = 0, etag = "", accessTier, contentEncoding = "" } = found;
        return { size, etag, isReadable: accessTier !== "Archive" && contentEncoding === "" };
      } catch (error) {
        const { status } = failureOf(error);
        if (status === 404) return undefined;
        // The uploader's own key encrypts it.
        if (status === 409) return { size: 0, etag: "", isReadable: false };
        throw error;
      }
    });
  }

  /** Reads a part of a blob. @throws MissingBlob when it is gone or another one; AppError when storage doesn't answer */
  async read(name: string, { first, last, etag }: BlobRange): Promise<Uint8Array> {
    return await this.#ask(async ({ client }) => {
      const length = last - first + 1;
      try {
        const answer = await client.getBlobClient(name).download(first, length, {
          abortSignal: AbortSignal.timeout(READ_TIMEOUT_MS),
          conditions: { ifMatch: etag },
          maxRetryRequests: 0,
        });
        // Filled as it arrives: joining parts at the end would take the memory twice.
        const bytes = Buffer.alloc(length);
        let received = 0;
        for await (const part of answer.readableStreamBody ?? []) {
          const chunk = typeof part === "string" ? Buffer.from(part) : part;
          if (received + chunk.length > length) throw new Error("storage sent more than was asked");
          bytes.set(chunk, received);
          received += chunk.length;
        }
        if (received !== length) throw new Error(`storage sent ${received} of ${length} bytes`);
        return bytes;
      } catch (error) {
        const { status } = failureOf(error);
        // 409: it was archived since, for example.
        if (status !== undefined && [404, 409, 412, 416].includes(status)) throw new MissingBlob();
        throw error;
      }
    });
  }

  /** Removes a blob, if it is there. */
  async remove(name: string): Promise<void> {
    await this.#ask(async ({ client }) => {
      const abortSignal = AbortSignal.timeout(CALL_TIMEOUT_MS);
      await client.getBlobClient(name).deleteIfExists({ abortSignal });
    });
  }

  /** Removes a page of the blobs whose names begin so. Returns how many there were: none are left when it is 0. */
  async removePage(prefix: string): Promise<number> {
    const names = await this.#ask(async ({ client }) => {
      const abortSignal = AbortSignal.timeout(CALL_TIMEOUT_MS);
      const pages = client
        .listBlobsFlat({ prefix, abortSignal })
        .byPage({ maxPageSize: PAGE_BLOBS });
      // A page may be empty, and others follow.
      for await (const { segment } of pages)
        if (segment.blobItems.length > 0) return segment.blobItems.map(({ name }) => name);
      return [];
    });
    await inBatches(names, REMOVALS_AT_ONCE, (name) => this.remove(name));
    return names.length;
  }

  async #address(
    blobName: string,
    permissions: string,
    seconds: number,
    shown: Pick<BlobSASSignatureValues, "contentType" | "contentDisposition" | "cacheControl"> = {},
  ): Promise<string> {
    return await this.#ask(async ({ client, sign, isInsecure }) => {
      const { BlobSASPermissions, SASProtocol } = await import("@azure/storage-blob");
      const query = await sign({
        version: SIGNED_VERSION,
        containerName: client.containerName,
        blobName,
        permissions: BlobSASPermissions.parse(permissions),
        protocol: isInsecure ? SASProtocol.HttpsAndHttp : SASProtocol.Https,
        expiresOn: new Date(Date.now() + seconds * 1000),
        ...shown,
      });
      return `${client.getBlobClient(blobName).url}?${query.toString()}`;
    });
  }

  /** Makes a call that may be repeated. @throws AppError `service_unavailable` when storage doesn't answer */
  async #ask<T>(call: (container: BlobContainer) => Promise<T>): Promise<T> {
    this.#container ??= this.#open();
    const opening = this.#container;
    let container: BlobContainer;
    try {
      container = await opening;
    } catch (error) {
      this.#container = undefined;
      throw serviceUnavailable(error);
    }
    try {
      return await retryHarmless(() => call(container));
    } catch (error) {
      if (error instanceof MissingBlob || isDefinite(error)) throw error;
      throw serviceUnavailable(error);
    }
  }
}
