import { expect, test } from "vitest";
import { networkUrl, readNetwork, readPolling } from "./network.ts";

test.each([[{}], [{ HOST: "" }], [{ HOST: "127.0.0.1" }], [{ HOST: "localhost" }], [{ HOST: "::1" }]])(
  "%j listens to this machine alone",
  (env) => {
    expect(readNetwork(env)).toEqual({ ok: true, value: undefined });
  },
);

test.each([
  // Some shells set HOST to the machine's name.
  [{ HOST: "attic" }, "HOST: expected an address of this machine, or 0.0.0.0 for all of them, got 'attic'"],
  [{ TLS_CERT: "/c" }, "HOST: not set, though TLS_CERT or TLS_KEY is"],
  [{ HOST: "0.0.0.0", TLS_KEY: "/k" }, "TLS_CERT: not set"],
  [{ HOST: "0.0.0.0", TLS_CERT: "/nowhere", TLS_KEY: "/k" }, "TLS_CERT: ENOENT"],
  [{ HOST: "0.0.0.0", TLS_PORT: "x" }, "TLS_PORT: expected a number from 0 to 65535, got 'x'"],
])("%j is refused: %s", (env, error) => {
  expect(readNetwork(env)).toMatchObject({ ok: false, error: expect.stringContaining(error) });
});

test.each([
  [{}, true],
  [{ PUBLIC_URL: "http://192.168.1.5:8787" }, true],
  [{ PUBLIC_URL: "https://home.example.org" }, false],
  [{ PUBLIC_URL: "https://home.example.org", TELEGRAM_POLLING: "on" }, true],
  [{ TELEGRAM_POLLING: "off" }, false],
])("%j: Telegram's messages are fetched: %s", (env, polls) => {
  expect(readPolling(env, true)).toEqual({ ok: true, value: polls });
});

test("anything but on or off is refused for TELEGRAM_POLLING", () => {
  expect(readPolling({ TELEGRAM_POLLING: "yes" }, true)).toEqual({
    ok: false,
    error: "TELEGRAM_POLLING: expected on or off, got 'yes'",
  });
});

test("the address for other machines", () => {
  const tls = { port: 8443, cert: "", key: "" };
  expect(networkUrl({ host: "0.0.0.0", tls: undefined }, 8787, "192.168.1.5")).toBe(
    "http://192.168.1.5:8787",
  );
  expect(networkUrl({ host: "::", tls }, 8787, "192.168.1.5")).toBe("https://192.168.1.5:8443");
  expect(networkUrl({ host: "fd00::2", tls: undefined }, 80, "192.168.1.5")).toBe("http://[fd00::2]:80");
  expect(networkUrl({ host: "0.0.0.0", tls }, 8787, undefined)).not.toBe("http://undefined");
});
