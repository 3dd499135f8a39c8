/** The bridge as a service on a machine with its own systemd: install, limits, watchdog, update, uninstall. */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { describe, expect, test } from "vitest";
import { versionOf } from "../../cli/service/updates/trial.ts";
import { programs } from "../install/programs.ts";
import { useSteps } from "../install/steps.ts";

describe("the bridge as a service", {
  tags: ["needs/root", "needs/systemd-container", "needs/mosquitto", "needs/bubblewrap"],
}, () => {
  const { step, fine } = useSteps("bridge-service.sh", programs);

  test("install brings it online, with settings that only root can read; wrong settings change nothing", () => {
    fine("install", "modes");
    expect(step("install").out).toContain("the bridge is online");
    expect(step("modes").out.split("\n")).toEqual([
      "/etc/edgecall root:root 755",
      "/etc/edgecall/bridge.env root:root 600",
      "/var/lib/edgecall-bridge edgecall-bridge:edgecall-bridge 700",
      "/opt/edgecall-bridge/current/edgecall root:root 755",
      "/run/edgecall-bridge/status.json edgecall-bridge:edgecall-bridge 600",
    ]);
    expect(step("refused-settings")).toMatchObject({ code: 2, out: expect.stringContaining("BRIDGE_TOKEN") });
  });

  test("status and doctor report its state, and what to do when the gateway is away", () => {
    fine("status", "doctor");
    const { service, bridge } = JSON.parse(step("status").out);
    expect(service).toMatchObject({ active: "active", enabled: true });
    expect(bridge).toMatchObject({ online: true, gateway: { up: true }, broker: { up: true } });
    expect(step("doctor").out).toMatch(/^ok +gateway .* has accepted it$/m);
    const { code, out } = step("no-gateway");
    expect(code).toBe(1);
    expect(out).toMatch(
      /^WRONG gateway .*\n +→ is GATEWAY_URL right, and does the Internet connection work\?/m,
    );
    expect(out).toMatch(/^ok +broker /m);
    expect(step("no-update").out).toContain("is not online now");
  });

  test("it cannot read its settings file or change its program", () => {
    expect(step("bounds").out.split("\n")).toEqual([
      expect.stringMatching(/bridge\.env: Permission denied/),
      expect.stringMatching(/launch: Read-only/),
      "written",
    ]);
  });

  test("the watchdog ends a hanging bridge, and it comes back", () => {
    fine("watchdog", "watched", "online-again");
    expect(step("journal").out).toContain("Watchdog timeout");
  });

  test("an update that comes online stays; one that does not is rolled back", () => {
    fine("update", "after-ends");
    const good = /^(\S+) is online/m.exec(step("update").out)?.[1] ?? "";
    expect(good).toMatch(new RegExp(`^${VERSION.replaceAll(".", "\\.")}-[0-9a-f]{12}$`));
    expect(step("ends-at-once")).toMatchObject({
      code: 1,
      out: expect.stringContaining(`back to ${versionOf(good)}:`),
    });
  });

  test("next to an agent, uninstalling one leaves the other complete", () => {
    fine("agent", "link", "agent-gone", "bridge-stays", "link-after");
    expect(step("link").out).toBe("/opt/edgecall/current/edgecall");
    expect(step("link-after").out).toBe("/opt/edgecall-bridge/current/edgecall");
  });

  test("uninstall leaves nothing except what it is told to keep", () => {
    fine("keep", "kept", "again", "purge", "nothing-left", "no-user");
  });
});
