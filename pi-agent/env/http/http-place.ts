/** The address of another agent's HTTP backend: what is accepted as one. */
import { ExecError } from "../environment.ts";

/** Returns true for a host that is this machine itself. @param host a name or address, without brackets */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** The words for an address that is not accepted. */
const HTTP_PLACE = "https://host:port, or http:// to this machine itself";

/** Parses an address up to, and without, `/v1`. @throws ExecError `blocked` */
export function httpPlace(url: string, name: string): URL {
  const refused = (why: string) =>
    new ExecError(
      "blocked",
      `The address '${url.slice(0, 200)}' of '${name}' ${why}; right would be: ${HTTP_PLACE}.`,
    );
  if (!URL.canParse(url)) throw refused("is no address");
  const place = new URL(url);
  const { protocol, hostname, username, password, search, hash } = place;
  if (username !== "" || password !== "" || search !== "" || hash !== "")
    throw refused("has more than a host and a path");
  if (protocol !== "https:" && protocol !== "http:") throw refused("is not one of http");
  if (protocol === "http:" && !isLoopback(hostname.replace(/^\[|\]$/g, "")))
    throw refused("is without TLS, and the token would be readable on the way");
  if (!place.pathname.endsWith("/")) place.pathname += "/";
  return place;
}
