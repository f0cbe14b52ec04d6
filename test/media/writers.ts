import { spawnSync } from "node:child_process";

/** A file that a program of others writes, and what it is. */
export interface Written {
  readonly name: string;
  readonly contentType: string;
  /** The program and its arguments; the others of the folder may be used. */
  readonly command: readonly string[];
}

const FFMPEG = ["ffmpeg", "-loglevel", "error", "-y"];
const FILM = ["-f", "lavfi", "-i", "testsrc=d=1:s=64x48:r=25"];
const SOUND = ["-f", "lavfi", "-i", "sine=d=0.3"];
const ffmpeg = (name: string, contentType: string, ...args: readonly string[]): Written => ({
  name,
  contentType,
  command: [...FFMPEG, ...args, name],
});
const film = (name: string, contentType: string, ...args: readonly string[]) =>
  ffmpeg(name, contentType, ...FILM, "-t", "0.2", ...args);
const convert = (name: string, contentType: string, ...args: readonly string[]): Written => ({
  name,
  contentType,
  command: ["convert", "-size", "48x32", ...args, name],
});
const office = (name: string, contentType: string, from: string, filter: string): Written => ({
  name,
  contentType,
  command: ["soffice", "--headless", "--convert-to", filter, "--outdir", ".", from],
});
const WORD = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";

/** Made in this order. `words.txt` is there before. */
export const WRITTEN: readonly Written[] = [
  film("ffmpeg.jpg", "image/jpeg", "-frames:v", "1"),
  convert("imagemagick.jpg", "image/jpeg", "gradient:red-blue"),
  film("ffmpeg.png", "image/png", "-frames:v", "1"),
  convert("imagemagick.png", "image/png", "gradient:red-blue"),
  {
    name: "inkscape.png",
    contentType: "image/png",
    command: ["inkscape", "drawing.svg", "-o", "inkscape.png"],
  },
  film("ffmpeg.gif", "image/gif"),
  convert("imagemagick.gif", "image/gif", "gradient:red-blue", "gradient:blue-red", "-loop", "0"),
  film("ffmpeg.bmp", "image/bmp", "-frames:v", "1"),
  convert("imagemagick.bmp", "image/bmp", "gradient:red-blue"),
  film("ffmpeg.webp", "image/webp", "-frames:v", "1"),
  {
    name: "cwebp.webp",
    contentType: "image/webp",
    command: ["cwebp", "-quiet", "imagemagick.png", "-o", "cwebp.webp"],
  },
  {
    name: "avifenc.avif",
    contentType: "image/avif",
    command: ["avifenc", "imagemagick.png", "avifenc.avif"],
  },
  film("ffmpeg.avif", "image/avif", "-frames:v", "1", "-c:v", "libaom-av1", "-still-picture", "1"),
  film("ffmpeg-moving.avif", "image/avif", "-c:v", "libaom-av1", "-cpu-used", "8"),
  film("moving.y4m", "application/octet-stream", "-frames:v", "2", "-pix_fmt", "yuv420p"),
  {
    name: "avifenc-moving.avif",
    contentType: "image/avif",
    command: ["avifenc", "moving.y4m", "avifenc-moving.avif"],
  },
  {
    name: "libheif.heic",
    contentType: "image/heic",
    command: ["heif-enc", "imagemagick.png", "-o", "libheif.heic"],
  },
  film("ffmpeg.mp4", "video/mp4", "-c:v", "libx264"),
  film("ffmpeg.mov", "video/quicktime", "-c:v", "libx264"),
  film("ffmpeg.webm", "video/webm", "-c:v", "libvpx"),
  film("ffmpeg.mkv", "video/x-matroska", "-c:v", "libx264"),
  film("ffmpeg.mpg", "video/mpeg", "-c:v", "mpeg1video"),
  film("ffmpeg.m2v", "video/mpeg", "-c:v", "mpeg2video"),
  film("ffmpeg.m2t", "video/mp2t", "-c:v", "libx264"),
  film("ffmpeg.flv", "video/x-flv"),
  film("ffmpeg.wmv", "video/x-ms-asf"),
  film("ffmpeg.avi", "video/x-msvideo"),
  ffmpeg("ffmpeg.mp3", "audio/mpeg", ...SOUND),
  ffmpeg("ffmpeg.flac", "audio/flac", ...SOUND),
  ffmpeg("ffmpeg.ogg", "audio/ogg", ...SOUND),
  ffmpeg("ffmpeg.aac", "audio/aac", ...SOUND),
  ffmpeg("ffmpeg.m4a", "audio/mp4", ...SOUND),
  office("words.pdf", "application/pdf", "words.txt", "pdf"),
  {
    name: "inkscape.pdf",
    contentType: "application/pdf",
    command: ["inkscape", "drawing.svg", "-o", "inkscape.pdf"],
  },
  office("words.docx", WORD, "words.txt", "docx"),
  office("words.doc", "application/msword", "words.txt", "doc:MS Word 97"),
];

const SECONDS_MAX = 120;

/** Makes a file in a folder; false where the program is missing. @throws Error when the program fails */
export function write({ name, command }: Written, folder: string): boolean {
  const [program = "", ...args] = command;
  const options = { cwd: folder, timeout: SECONDS_MAX * 1_000, stdio: "ignore" } as const;
  const { error, status } = spawnSync(program, args, options);
  if (error !== undefined && "code" in error && error.code === "ENOENT") return false;
  if (status !== 0) throw new Error(`${name}: ${program} ended with ${status}`);
  return true;
}
