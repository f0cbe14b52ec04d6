import { chooseLocale, type Locale } from "../shared/runtime/locale.ts";

/** Returns the body with the caller's language, unless it names one. */
export const withLocale = <Body extends { readonly locale?: Locale | undefined }>(
  body: Body,
  headers: Headers,
) => ({ ...body, locale: body.locale ?? chooseLocale(headers.get("accept-language")) });
