/** The parts of a file besides its picture, and the file without them. */
export interface PictureParts {
  /** Metadata, such as when, where and with what the picture was taken, or a description. */
  readonly hasMetadata: boolean;
  /** Anything else that isn't the picture: further pictures, films, bytes after the end. */
  readonly hasExtras: boolean;
  /** The number of frames of an animation, or 1 for a still picture. */
  readonly frames: number;
  /**
   * The parts that make up the picture, in order. Each is a part of the file or made from one. Null when they can't be
   * told apart with certainty, or when the file isn't completely known.
   */
  readonly kept: readonly Uint8Array[] | null;
}

export interface PartsOptions {
  /** How the picture is turned (EXIF, 1 to 8). This has to be preserved. */
  readonly orientation: number;
  /** Whether only the first frame of an animation is wanted. */
  readonly isStill?: boolean;
}

export type ReadParts = (file: Buffer, options: PartsOptions) => PictureParts;
