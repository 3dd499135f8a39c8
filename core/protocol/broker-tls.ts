/** TLS to a broker: the authorities that are trusted by default, and advice for a refused certificate. */

/** Files with the authorities that a system trusts: Debian and Alpine, Fedora, macOS. */
const SYSTEM_FILES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/ssl/cert.pem",
];

/**
 * Finds the file of the authorities that this system trusts, which may include the owner's own. Node by itself knows only
 * those that it was built with. `SSL_CERT_FILE` names another file, as for OpenSSL's programs.
 * @param exists whether a file exists
 * @returns undefined when the address uses no TLS, or when no such file exists and Node's own authorities must do
 */
export function systemCaFile(
  url: string,
  env: Readonly<Record<string, string | undefined>>,
  exists: (path: string) => boolean,
): string | undefined {
  if (!/^(mqtts|ssl|tls|wss):/i.test(url)) return undefined;
  return [env.SSL_CERT_FILE || undefined, ...SYSTEM_FILES].find((path) => path !== undefined && exists(path));
}

const NOT_TRUSTED = [
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "CERT_SIGNATURE_FAILURE",
];

/**
 * Says what to do about a broker whose certificate was refused.
 * @param code the code of Node's error
 * @param setting the name of the setting for the authority's file
 * @returns undefined for any other error
 */
export function tlsHint(code: unknown, setting: string): string | undefined {
  if (typeof code !== "string") return undefined;
  if (NOT_TRUSTED.includes(code))
    return `no authority that is trusted here has signed the broker's certificate: give ${setting} the PEM file of the one that did`;
  if (code === "CERT_HAS_EXPIRED")
    return "the broker's certificate has expired (or this machine's clock is wrong): renew it";
  if (code === "CERT_NOT_YET_VALID")
    return "the broker's certificate is not valid yet: is this machine's clock right?";
  if (code === "ERR_TLS_CERT_ALTNAME_INVALID")
    return "the broker's certificate is for another name: use the name or address that stands in it";
  if (code === "ERR_SSL_WRONG_VERSION_NUMBER" || code === "ERR_SSL_PACKET_LENGTH_TOO_LONG")
    return "the broker does not speak TLS on this port: mqtt:// in place of mqtts://, or its port for TLS (8883)";
  return undefined;
}
