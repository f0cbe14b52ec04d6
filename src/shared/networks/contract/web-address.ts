/**
 * Returns a web address in plain ASCII, as networks accept it: white space and other scripts are encoded, the host's as
 * the name system has it. An address that is in ASCII already stays as it was written.
 */
export function encodedAddress(url: string): string {
  return /^[\x21-\x7e]+$/.test(url) ? url : new URL(url).href;
}

const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/**
 * Returns an http address as https, which browsers try first too. Sites whose addresses were set before they had a
 * certificate still name them with http. Programs on this machine have none.
 */
export function overHttps(address: string): string {
  if (!/^http:/i.test(address) || !URL.canParse(address)) return address;
  const url = new URL(address);
  if (!LOOPBACK.test(url.hostname)) url.protocol = "https:";
  return url.href;
}
