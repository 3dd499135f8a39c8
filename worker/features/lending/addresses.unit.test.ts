/** Where another home's gateway may be: its address comes from a stranger, and requests are sent there. */
import { expect, test } from "vitest";
import { isOtherHomeUrl } from "./contract.ts";

test.each([
  "https://10.0.0.1",
  "https://192.168.1.5:8443",
  "https://172.16.3.4",
  "https://169.254.169.254",
  "https://100.64.0.1",
  "https://0.0.0.0",
  "https://[fd00::1]",
  "https://[fe80::1]",
  "https://[::ffff:a00:1]",
  "https://[64:ff9b::a00:1]",
  "https://router",
  "https://router.local",
  "https://nas.lan",
  "https://vault.internal",
  "https://home.arpa",
  "https://printer.home.arpa",
  "https://localhost.",
  "https://router.local.",
  "http://gateway.example.org",
  "https://user@gateway.example.org",
  "https://gateway.example.org/path",
  "ftp://gateway.example.org",
  "gateway.example.org",
  "",
])("S27: nothing is sent to %s, also from a gateway on its own machine", (url) => {
  expect(isOtherHomeUrl(url, false)).toBe(false);
  expect(isOtherHomeUrl(url, true)).toBe(false);
});

test.each(["https://127.0.0.1", "https://localhost:8787", "https://[::1]:8443", "http://127.0.0.1:8787"])(
  "S27: %s is a gateway only for one on the same machine",
  (url) => {
    expect(isOtherHomeUrl(url, false)).toBe(false);
    expect(isOtherHomeUrl(url, true)).toBe(true);
  },
);

test.each([
  "https://gateway.example.org",
  "https://gateway.example.org:8443",
  "https://1.1.1.1",
  "https://[2606:4700::1111]",
])("S27: %s is reached", (url) => {
  expect(isOtherHomeUrl(url, false)).toBe(true);
});
