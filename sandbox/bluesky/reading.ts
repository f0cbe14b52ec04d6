import { isObject } from "../exchange.ts";
import type { PublishedMedia, PublishedPost } from "../network.ts";
import type { Blobs } from "./blobs.ts";
import { segmentsOf } from "./facets.ts";
import { POST_COLLECTION, uriOf } from "./repository.ts";
import { findAccount } from "./state.ts";
import type { BlueskyShared, StoredRecord } from "./state.ts";

function objectAt(value: unknown, name: string): Record<string, unknown> {
  const inner: unknown = isObject(value) ? value[name] : undefined;
  return isObject(inner) ? inner : {};
}

function objectsAt(value: Record<string, unknown>, name: string): Record<string, unknown>[] {
  const inner = value[name];
  return Array.isArray(inner) ? inner.filter(isObject) : [];
}

function stringsAt(value: Record<string, unknown>, name: string): string[] {
  const inner = value[name];
  return Array.isArray(inner) ? inner.map(String) : [];
}

/** The posts of all accounts as a reader would see them. */
export class Reading {
  readonly #shared: BlueskyShared;
  readonly #blobs: Blobs;

  constructor(shared: BlueskyShared, blobs: Blobs) {
    this.#shared = shared;
    this.#blobs = blobs;
  }

  posts(): PublishedPost[] {
    return [...this.#shared.state.records.values()]
      .filter(({ collection }) => collection === POST_COLLECTION)
      .map((record) => this.#published(record));
  }

  #published(record: StoredRecord): PublishedPost {
    const { did, rkey, value } = record;
    const account = findAccount(this.#shared.state, did);
    const text = typeof value["text"] === "string" ? value["text"] : "";
    const facets = Array.isArray(value["facets"]) ? value["facets"] : [];
    const labels = objectsAt(objectAt(value, "labels"), "values").map(({ val }) => String(val));
    const path = `/profile/${did}/post/${rkey}`;
    return {
      network: "bluesky",
      host: "bsky.app",
      account: {
        id: did,
        username: account?.handle ?? did,
        displayName: account?.displayName ?? did,
      },
      id: uriOf(record),
      url: `https://bsky.app${path}`,
      page: path,
      text,
      segments: segmentsOf(text, facets),
      facets,
      contentWarning: labels.length === 0 ? null : labels.join(", "),
      visibility: "public",
      languages: stringsAt(value, "langs"),
      media: this.#media(did, value),
      card: this.#card(did, value),
      createdAt: String(value["createdAt"]),
      publishedAt: new Date(record.publishedAt).toISOString(),
      idempotencyKey: rkey,
      edits: record.edits,
    };
  }

  #embed(value: Record<string, unknown>): Record<string, unknown> {
    const embed = objectAt(value, "embed");
    return embed["$type"] === "app.bsky.embed.recordWithMedia" ? objectAt(embed, "media") : embed;
  }

  #media(did: string, value: Record<string, unknown>): PublishedMedia[] {
    const embed = this.#embed(value);
    const images = [...objectsAt(embed, "images"), ...objectsAt(embed, "items")];
    const found = images.map((image) => this.#file(did, image["image"], image["alt"]));
    const video = isObject(embed["video"]) ? this.#file(did, embed["video"], embed["alt"]) : [];
    return [...found.flat(), ...video];
  }

  #file(did: string, blob: unknown, alt: unknown): PublishedMedia[] {
    const stored = this.#blobs.find(did, String(objectAt(blob, "ref")["$link"]));
    if (stored === undefined) return [];
    const { mimeType, size, sha256 } = stored;
    return [
      {
        kind: mimeType.startsWith("video/") ? "video" : "image",
        path: `/_sandbox/blobs/${sha256}`,
        mimeType,
        bytes: size,
        sha256,
        alt: typeof alt === "string" && alt !== "" ? alt : null,
      },
    ];
  }

  #card(did: string, value: Record<string, unknown>): PublishedPost["card"] {
    const embed = this.#embed(value);
    if (embed["$type"] !== "app.bsky.embed.external") return null;
    const external = objectAt(embed, "external");
    const [thumb] = this.#file(did, external["thumb"], null);
    return {
      url: String(external["uri"]),
      title: String(external["title"]),
      description: String(external["description"]),
      imagePath: thumb?.path ?? null,
    };
  }
}
