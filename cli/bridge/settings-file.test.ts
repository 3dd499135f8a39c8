import { chmodSync, mkdtempSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readEnvironment } from "../service/environment-file.ts";
import { newSettings, settingsOf, settingsOfService } from "./settings-file.ts";

const NEEDED = { GATEWAY_URL: "https://gate.example", BRIDGE_TOKEN: "tok" };

test("the bridge reads what was written", () => {
  const password = `it's "quoted", $HOME \`id\` \\ and # no comment`;
  const text = newSettings({
    ...NEEDED,
    MQTT_USERNAME: "edgecall-bridge",
    MQTT_PASSWORD: password,
    MQTT_URL: undefined,
  });
  expect(settingsOf(text)).toMatchObject({
    ok: true,
    settings: { gatewayUrl: "wss://gate.example/bridge", bridgeToken: "tok", mqttPassword: password },
  });
  expect(text).not.toContain("MQTT_URL");
});

test("like systemd: bare words, both quotes, comments", () => {
  const text = '# A=1\n; B=2\nC=three\n D=\'f\\our\'\nE="fi\\"ve"\nno line\nF=\n';
  expect(readEnvironment(text)).toEqual({ C: "three", D: "f\\our", E: 'fi"ve', F: "" });
});

test.each([
  [{ BRIDGE_TOKEN: "tok" }, "GATEWAY_URL: missing"],
  [{ ...NEEDED, MQTT_PASSWORD: "x" }, "MQTT_USERNAME: missing"],
  [{ ...NEEDED, MQTT_USERNAME: "a\nBRIDGE_TOKEN=b" }, "MQTT_USERNAME: holds a line break"],
])("%j is refused, and named", (values, says) => {
  expect(() => newSettings(values)).toThrow(says);
});

test("root reads the files in the settings with the service's rights", { tags: ["needs/root"] }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-settings-"));
  chmodSync(folder, 0o755);
  const text = newSettings({ ...NEEDED, BRIDGE_ID: "b" });
  const files = `${text}BROKER_FILES=${folder}\n`;
  const secret = join(folder, "roots");
  writeFileSync(secret, "root's", { mode: 0o600 });
  symlinkSync(secret, join(folder, "bridge-password"));
  expect(await settingsOfService(files, "daemon")).toMatchObject({
    ok: false,
    errors: [expect.stringContaining("EACCES")],
  });
  chmodSync(secret, 0o644);
  expect(await settingsOfService(files, "daemon")).toMatchObject({ ok: true });
});
