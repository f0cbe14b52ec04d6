/** Placeholders for the relay's own address and name, in texts that are rendered before these are known. */
export const BASE_URL_PLACE = "https://relay.invalid/base";
export const SERVICE_NAME_PLACE = "{SERVICE_NAME}";

/** The documents that describe the API. */
export type ReferenceName = "openapi" | "docs" | "markdown" | "llms";

/** What `tools/reference` renders when the app is built. */
export interface ReferenceTexts {
  readonly documents: Readonly<Record<ReferenceName, string>>;
  /** The content security policy of the page. It names the page's own style and script by their hashes. */
  readonly docsPolicy: string;
}
