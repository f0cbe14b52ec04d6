/* The part of files that other folders use: the verbs of `/v1/media`, and how posts use files. */

export type { FilesDeps } from "./deps.ts";
export { eraseFiles, eraseFilesOfPlatform } from "./erase-files.ts";
export { expireFiles } from "./expire-files.ts";
export {
  addressOfContent,
  completeFile,
  createFile,
  deleteFile,
  getFile,
  issuesOfFile,
  listFiles,
} from "./manage-files.ts";
export { addressForNetwork, openUploaded } from "./open-file.ts";
export {
  factsOfFiles,
  fileKeys,
  findFiles,
  namedFiles,
  useFiles,
  type PostFiles,
} from "./use-files.ts";
export { createFileStores, storageState, type FileStorageState } from "./stores.ts";
export { namedFile } from "./view-file.ts";
