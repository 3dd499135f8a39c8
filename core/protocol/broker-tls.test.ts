import { expect, test } from "vitest";
import { systemCaFile, tlsHint } from "./broker-tls.ts";

test("without TLS no authority is needed", () => {
  expect(systemCaFile("mqtt://broker:1883", {}, () => true)).toBeUndefined();
});

test("SSL_CERT_FILE first, then the first existing place of a system", () => {
  const fedora = (path: string) => path.startsWith("/etc/pki/");
  expect(systemCaFile("mqtts://broker", { SSL_CERT_FILE: "/own.pem" }, () => true)).toBe("/own.pem");
  expect(systemCaFile("mqtts://broker", { SSL_CERT_FILE: "/gone.pem" }, fedora)).toMatch(/^\/etc\/pki\//);
  expect(systemCaFile("wss://broker", { SSL_CERT_FILE: "" }, () => false)).toBeUndefined();
});

test("a failure that is not TLS's has no hint", () => {
  expect(tlsHint("ECONNREFUSED", "MQTT_CA")).toBeUndefined();
  expect(tlsHint(5, "MQTT_CA")).toBeUndefined();
  expect(tlsHint("CERT_NOT_YET_VALID", "MQTT_CA")).toContain("clock");
});
