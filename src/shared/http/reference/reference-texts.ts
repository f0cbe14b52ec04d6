/** Placeholders for the relay's own address and name, in texts that are rendered before these are known. */
export const BASE_URL_PLACE = "https://relay.invalid/base";
export const SERVICE_NAME_PLACE = "{SERVICE_NAME}";

/** The documents that describe the API. */
export interface ReferenceTexts {
  readonly openapi: string;
  readonly docs: string;
  readonly markdown: string;
  readonly llms: string;
}
export type ReferenceName = keyof ReferenceTexts;
