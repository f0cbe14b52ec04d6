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
const gst = (name: string, contentType: string, pipeline: string): Written => ({
  name,
  contentType,
  command: ["gst-launch-1.0", "-q", ...`${pipeline} ! filesink location=${name}`.split(" ")],
});
const GST_FILM = "videotestsrc num-buffers=5 ! video/x-raw,width=64,height=48,framerate=25/1";
const GST_H264 = `${GST_FILM} ! x264enc ! h264parse`;
const GST_AAC = "audiotestsrc num-buffers=8 ! voaacenc ! aacparse";
const sox = (name: string, contentType: string): Written => ({
  name,
  contentType,
  command: ["sox", "-n", "-r", "44100", name, "synth", "0.1", "sine", "440"],
});
const pandoc = (name: string, contentType: string): Written => ({
  name,
  contentType,
  command: ["pandoc", "words.txt", "-o", name],
});
const GIMP_LAYER = '(gimp-layer-new image 48 32 RGB-IMAGE "a" 100 LAYER-MODE-NORMAL)';
const gimp = (name: string, contentType: string): Written => {
  const script = `(let* ((image (car (gimp-image-new 48 32 RGB))) (layer (car ${GIMP_LAYER})))
    (gimp-image-insert-layer image layer 0 0) (gimp-drawable-fill layer FILL-WHITE)
    (gimp-file-save RUN-NONINTERACTIVE image layer "${name}" "${name}"))`;
  return {
    name,
    contentType,
    command: ["gimp", "-i", "-d", "-f", "-b", script, "-b", "(gimp-quit 0)"],
  };
};
const OPEN_XML = "application/vnd.openxmlformats-officedocument";
const WORD = `${OPEN_XML}.wordprocessingml.document`;
const SLIDES = `${OPEN_XML}.presentationml.presentation`;

/**
 * Made in this order. `words.txt`, `drawing.svg` and `slides.fodp` are there before. Each type that a network takes has
 * two writers, except the old documents of Office, of which Debian has no other writer than LibreOffice.
 */
export const WRITTEN: readonly Written[] = [
  film("ffmpeg.jpg", "image/jpeg", "-frames:v", "1"),
  convert("imagemagick.jpg", "image/jpeg", "gradient:red-blue"),
  film("ffmpeg.png", "image/png", "-frames:v", "1"),
  convert("imagemagick.png", "image/png", "gradient:red-blue"),
  gst("gstreamer.png", "image/png", `${GST_FILM} ! pngenc snapshot=true`),
  gimp("gimp.jpg", "image/jpeg"),
  {
    name: "inkscape.png",
    contentType: "image/png",
    command: ["inkscape", "drawing.svg", "-o", "inkscape.png"],
  },
  film("ffmpeg.gif", "image/gif"),
  convert("imagemagick.gif", "image/gif", "gradient:red-blue", "gradient:blue-red", "-loop", "0"),
  film("ffmpeg.bmp", "image/bmp", "-frames:v", "1"),
  convert("imagemagick.bmp", "image/bmp", "gradient:red-blue"),
  film("ffmpeg.tiff", "image/tiff", "-frames:v", "1"),
  convert("imagemagick.tiff", "image/tiff", "gradient:red-blue"),
  gimp("gimp.tiff", "image/tiff"),
  gimp("gimp.webp", "image/webp"),
  gimp("gimp.heic", "image/heic"),
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
  ffmpeg("ffmpeg.wav", "audio/wav", ...SOUND, "-t", "0.1"),
  ffmpeg("ffmpeg.opus", "audio/ogg", ...SOUND, "-c:a", "libopus"),
  film("ffmpeg.3gp", "video/3gpp", "-c:v", "libx264"),
  gst("gstreamer.mp4", "video/mp4", `${GST_H264} ! mp4mux`),
  gst("gstreamer.mov", "video/quicktime", `${GST_H264} ! qtmux`),
  gst("gstreamer.webm", "video/webm", `${GST_FILM} ! vp8enc ! webmmux`),
  gst("gstreamer.mkv", "video/x-matroska", `${GST_H264} ! matroskamux`),
  gst("gstreamer.mpg", "video/mpeg", `${GST_FILM} ! mpeg2enc ! mpegpsmux`),
  gst("gstreamer.m2t", "video/mp2t", `${GST_H264} ! mpegtsmux`),
  gst("gstreamer.3gp", "video/3gpp", `${GST_H264} ! 3gppmux`),
  gst("gstreamer.aac", "audio/aac", `${GST_AAC} ! audio/mpeg,stream-format=adts`),
  // Its brand is that of films.
  gst("gstreamer.m4a", "audio/mp4", `${GST_AAC} ! mp4mux`),
  gst("gstreamer.ogg", "audio/ogg", "audiotestsrc num-buffers=8 ! opusenc ! oggmux"),
  sox("sox.mp3", "audio/mpeg"),
  sox("sox.flac", "audio/flac"),
  sox("sox.ogg", "audio/ogg"),
  sox("sox.wav", "audio/wav"),
  office("words.pdf", "application/pdf", "words.txt", "pdf"),
  {
    name: "inkscape.pdf",
    contentType: "application/pdf",
    command: ["inkscape", "drawing.svg", "-o", "inkscape.pdf"],
  },
  office("words.docx", WORD, "words.txt", "docx"),
  office("words.doc", "application/msword", "words.txt", "doc:MS Word 97"),
  pandoc("pandoc.docx", WORD),
  pandoc("pandoc.pptx", SLIDES),
  office("slides.pptx", SLIDES, "slides.fodp", "pptx"),
  office("slides.ppt", "application/vnd.ms-powerpoint", "slides.fodp", "ppt"),
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
