import { chooseLocale, type Locale } from "../shared/runtime/locale.ts";

/** Returns the body with the language of the caller where it names none. */
export const withLocale = <Body extends { readonly locale?: Locale | undefined }>(
  body: Body,
  headers: Headers,
) => ({ ...body, locale: body.locale ?? chooseLocale(headers.get("accept-language")) });
