/** Whether this is a run of the long check, in which tests try every combination and not one of each. */
export const IS_LONG = process.env["LONG_CHECK"] === "true";
