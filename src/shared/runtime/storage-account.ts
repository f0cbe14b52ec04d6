export type StorageAccount =
  | { readonly kind: "connection_string"; readonly connectionString: string }
  | {
      readonly kind: "identity";
      readonly accountName: string;
      readonly clientId: string | undefined;
    };

/** What Blob Storage takes in one PUT. Operators may set a smaller limit. */
export const PUT_BYTES_MAX = 5_242_880_000;
