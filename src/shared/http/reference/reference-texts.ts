/** Stand where the relay's own address and name come, in texts that were rendered before they were known. */
export const BASE_URL_PLACE = "https://relay.invalid/base";
export const SERVICE_NAME_PLACE = "{SERVICE_NAME}";

/** What describes the API, by document. */
export interface ReferenceTexts {
  readonly openapi: string;
  readonly docs: string;
  readonly markdown: string;
  readonly llms: string;
}
export type ReferenceName = keyof ReferenceTexts;
