import { domainToASCII } from "node:url";

const LENGTH_MAX = 254;
const LOCAL_LENGTH_MAX = 64;
const DOMAIN_LENGTH_MAX = 253;

/** Unquoted text before the at sign: atoms with dots between them (RFC 5321, 4.1.2). */
const DOT_STRING = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
/** What a domain may be written with. Other ASCII characters would be decoded or ignored. */
const WRITTEN_DOMAIN = /^[A-Za-z\d.\u0080-\uffff-]+$/;
const LABEL = /^[a-z\d-]{1,63}$/;

/**
 * Returns an email address in the form that is stored: without space around it, and with the domain in lower case and as
 * `xn--…` where it is international. Undefined for text that is no address.
 */
export function canonicalEmail(text: string): string | undefined {
  const written = text.trim();
  const at = written.lastIndexOf("@");
  const [local, domain] = [written.slice(0, Math.max(at, 0)), written.slice(at + 1)];
  if (local.length > LOCAL_LENGTH_MAX || !DOT_STRING.test(local)) return undefined;
  if (domain.length > DOMAIN_LENGTH_MAX || !WRITTEN_DOMAIN.test(domain)) return undefined;
  const ascii = domainToASCII(domain);
  const labels = ascii.split(".");
  const areLabels = labels.every(
    (label) => LABEL.test(label) && !label.startsWith("-") && !label.endsWith("-"),
  );
  const hasName = labels.length > 1 && areLabels && /[a-z]/.test(labels.at(-1) ?? "");
  const address = `${local}@${ascii}`;
  return hasName && address.length <= LENGTH_MAX ? address : undefined;
}

/**
 * Returns the form in which addresses are compared. Upper and lower case are the same. Text that is no address stays as it
 * is: the lower case of letters such as the Kelvin sign is that of another address.
 */
export const comparedEmail = (text: string): string =>
  canonicalEmail(text)?.toLowerCase() ?? text.trim();
