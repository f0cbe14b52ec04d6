export type StorageAccount =
  | { readonly kind: "connection_string"; readonly connectionString: string }
  | {
      readonly kind: "identity";
      readonly accountName: string;
      readonly clientId: string | undefined;
    };
