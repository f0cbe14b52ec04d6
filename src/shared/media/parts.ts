/** What a file has besides its picture, and the file without it. */
export interface PictureParts {
  /** Metadata: when, where and with what the picture was taken, words about it. */
  readonly hasMetadata: boolean;
  /** Anything else that is not the picture: further pictures, films, bytes after the end. */
  readonly hasExtras: boolean;
  /** How many frames it shows one after the other; 1 for a still picture. */
  readonly frames: number;
  /**
   * The parts that make up the picture, in order, each a part of the file or made from it. Null when they can't be told
   * apart with certainty, or when not all of the file is known.
   */
  readonly kept: readonly Uint8Array[] | null;
}

export interface PartsOptions {
  /** How the picture is turned, which has to keep its effect (EXIF, 1 to 8). */
  readonly orientation: number;
  /** Whether only the first frame of a moving picture is wanted. */
  readonly isStill?: boolean;
}

export type ReadParts = (file: Buffer, options: PartsOptions) => PictureParts;
