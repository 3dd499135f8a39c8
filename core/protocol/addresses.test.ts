import { expect, test } from "vitest";
import { isLoopback, withoutLogin } from "./addresses.ts";

test.each([
  "mqtt://127.0.0.1:1883",
  "mqtts://user:word@127.8.0.1",
  "mqtt://localhost",
  "mqtt://LOCALHOST:1883",
  "mqtt://[::1]:1883",
  "http://localhost:8787/install.sh",
])("%s is the machine itself", (url) => expect(isLoopback(url)).toBe(true));

test.each([
  "mqtt://192.168.1.2:1883",
  "mqtt://127.0.0.1.example.org",
  "https://localhost.example.org",
  "mqtt://[fe80::1]",
  "mqtt://localhost@10.0.0.2",
  "127.0.0.1:1883",
  "",
])("%s is not", (url) => expect(isLoopback(url)).toBe(false));

test("an address is shown without its login", () => {
  expect(withoutLogin("mqtt://eye:pass@word@10.0.0.2:1883")).toBe("mqtt://10.0.0.2:1883");
  expect(withoutLogin("mqtts://broker.lan/path@2")).toBe("mqtts://broker.lan/path@2");
});
