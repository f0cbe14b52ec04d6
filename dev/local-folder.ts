/** Where everything of a local run is kept between starts; never part of the repository. */
export function localFolder(): string {
  const chosen = process.env["LOCAL_FOLDER"] ?? "";
  return chosen === "" ? ".local" : chosen;
}
