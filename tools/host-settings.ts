/** What the Functions host reads from the same environment, and not the app: by the setting's name, what it means. */
export const HOST_SETTINGS: Readonly<Record<string, string>> = {
  APPLICATIONINSIGHTS_CONNECTION_STRING:
    "Where the host sends logs, traces and metrics; without it they are on its output alone.",
  APPLICATIONINSIGHTS_AUTHENTICATION_STRING: "The identity that it sends them with.",
  AzureWebJobsStorage__credential:
    "`managedidentity`, where the host reaches its storage account by an identity.",
  AzureWebJobsStorage__clientId: "Client id of that identity.",
  FUNCTIONS_REQUEST_BODY_SIZE_LIMIT:
    "Most bytes of a request with a declared length; beyond it the host answers a bare 500. Without it the host holds bodies of 100 MB several times over.",
  AzureFunctionsJobHost__extensions__queues__maxPollingInterval:
    "Maximum polling interval of an idle queue. Overrides `host.json`.",
};
