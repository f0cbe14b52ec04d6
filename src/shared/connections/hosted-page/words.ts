import type { en } from "./languages/en.ts";

/** The English file decides what there is to say; the compiler finds what another language leaves out. */
type Sentences<Part> = {
  readonly [Name in keyof Part]: Part[Name] extends string ? string : Sentences<Part[Name]>;
};

export interface FieldWords {
  readonly label: string;
  readonly hint: string;
  readonly choices?: Readonly<Record<string, string>>;
}

export interface Words extends Sentences<typeof en> {
  /** Of the networks' forms, as `network.field`; a network says its own in English. */
  readonly fields?: Readonly<Record<string, FieldWords>>;
}
