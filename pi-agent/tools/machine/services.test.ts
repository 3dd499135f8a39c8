import { describe, expect, test } from "vitest";
import { PC } from "../../testing/boards/pc.ts";
import { PI_4 } from "../../testing/boards/pi-4.ts";
import { callTool } from "../../testing/call.ts";
import { failing, programs, saying } from "../../testing/programs/folder.ts";
import { tree } from "../../testing/tree.ts";
import { listedUnits, services, servicesMissing } from "./services.ts";

const LIST = `bluetooth.service loaded active running Bluetooth service
cron.service loaded active running Regular background program processing daemon
● mosquitto.service loaded failed failed Mosquitto MQTT Broker
rc-local.service loaded active exited /etc/rc.local Compatibility
auditd.service not-found inactive dead auditd.service`;

const SHOWN = `Id=ssh.service
Description=OpenBSD Secure Shell server
LoadState=loaded
ActiveState=active
SubState=running
UnitFileState=enabled
NRestarts=0
ActiveEnterTimestamp=Sat 2026-11-21 09:12:01 UTC
MainPID=611
MemoryCurrent=5513216
Result=success

Id=mosquitto.service
Description=Mosquitto MQTT Broker
LoadState=loaded
ActiveState=failed
SubState=failed
UnitFileState=enabled
NRestarts=5
ActiveEnterTimestamp=
MainPID=0
MemoryCurrent=[not set]
Result=exit-code

Id=nginx.service
Description=nginx.service
LoadState=not-found
ActiveState=inactive
SubState=dead
UnitFileState=
NRestarts=0
ActiveEnterTimestamp=
MainPID=0
MemoryCurrent=18446744073709551615
Result=success`;

const at = (systemctl: string) => ({ exec: programs({ systemctl }) });

describe("services", () => {
  test("failed and running services", async () => {
    const { text, result } = await callTool(services(at(saying(LIST))));
    expect(text).toBe("1 failed:\nmosquitto.service: Mosquitto MQTT Broker\n2 running: bluetooth, cron");
    expect(result.details?.failed).toMatchObject([{ unit: "mosquitto.service", sub: "failed" }]);
    expect(listedUnits("")).toEqual([]);
  });

  test("services by name", async () => {
    const { text } = await callTool(services(at(saying(SHOWN))), { units: ["ssh", "mosquitto", "nginx"] });
    expect(text.split("\n")).toEqual([
      "ssh.service: active (running), since Sat 2026-11-21 09:12:01 UTC, memory 5.3 MiB, enabled at boot, OpenBSD Secure Shell server",
      "mosquitto.service: failed (failed), result exit-code, restarted 5 times, enabled at boot, Mosquitto MQTT Broker",
      "nginx.service: not on this device",
    ]);
  });

  test("names reach the program with their suffix, after --", async () => {
    const echo = at('echo "$*" >&2; exit 1');
    const { text } = await callTool(services(echo), {
      units: ["ssh", "edgecall-*", "docker.socket", "getty@tty1"],
    });
    expect(text).toContain("-- ssh.service edgecall-*.service docker.socket getty@tty1.service");
    expect((await callTool(services(echo), { units: "ssh cron" })).text).toContain(
      "-- ssh.service cron.service",
    );
  });

  test("an invalid name never reaches it", async () => {
    const silent = at("exit 0");
    for (const unit of ["--host=evil", "-H", "a b", "$(id)", "a;b", "../x", "a/b"]) {
      const { code } = await callTool(services(silent), { units: [unit] });
      expect(code, unit).toBe("invalid_params");
    }
  });

  test("no such service", async () => {
    const only = SHOWN.slice(SHOWN.indexOf("Id=nginx"));
    const { text, code } = await callTool(services(at(saying(only))), { units: ["nginx"] });
    expect(code).toBe("not_found");
    expect(text).toContain("no unit 'nginx'");
  });

  test("a system without systemd", async () => {
    const words =
      "System has not been booted with systemd as init system (PID 1). Can't operate.\nFailed to connect to bus: Host is down";
    expect((await callTool(services(at(failing(words))))).code).toBe("unavailable");
    const root = tree(PI_4);
    expect(await servicesMissing({ ...at("exit 0"), root }, "linux")).toBeUndefined();
    expect(await servicesMissing({ ...at("exit 0"), root: tree(PC) }, "linux")).toBe(
      "this system was not started by systemd",
    );
    expect(await servicesMissing({ exec: programs({}), root }, "linux")).toContain("no program 'systemctl'");
    expect(await servicesMissing({ ...at("exit 0"), root }, "darwin")).toContain("made for linux");
  });
});
