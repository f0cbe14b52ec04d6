import {
  type FittedImage,
  type ImageTarget,
  type MediaFile,
  IMAGE_SOURCE_BYTES_MAX,
} from "../networks/contract/media.ts";
import { contentTypeOf } from "./content-type.ts";
import { unreachable } from "../networks/contract/unreachable.ts";
import { mediaRefusal, tooLargeFile } from "./media-request.ts";
import { fileMemory } from "./file-memory.ts";
import { READ_BY_NOBODY, type ReadBy } from "./media-reader.ts";
import { readAll } from "./read-facts.ts";

/** For the download of a whole image. At 1 MB a second, this is enough for the largest. */
const FETCH_MS_MAX = 60_000;

function refuseOther(contentType: string): void {
  if (!contentType.startsWith("image/")) throw mediaRefusal("type", `${contentType} is no image`);
}

/**
 * Downloads an opened image and makes it fit the target. An image that fits stays unchanged, byte for byte. The same
 * file and target always give the same bytes.
 * @throws MediaFailure
 */
export async function fitImage(
  file: MediaFile,
  target: ImageTarget,
  { reader, owner }: ReadBy = READ_BY_NOBODY,
): Promise<FittedImage> {
  refuseOther(file.contentType);
  if (file.size > IMAGE_SOURCE_BYTES_MAX) throw tooLargeFile(IMAGE_SOURCE_BYTES_MAX);
  const fitted = await fileMemory.run(owner, file.size, async () => {
    const bytes = await readAll(file, performance.now() + FETCH_MS_MAX);
    // Taken from the bytes that arrived, because the server's first answer may have been for another file.
    const contentType = contentTypeOf(bytes);
    refuseOther(contentType);
    const { width, height } = file;
    return reader.fit(owner, { bytes, contentType, width, height }, target);
  });
  if (fitted === undefined) throw unreachable("busy");
  return fitted.result;
}
