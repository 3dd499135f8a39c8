/**
 * A home's first machine by one command: agent, bridge, and a broker with logins, on a machine with its own systemd.
 */
import { describe, expect, test } from "vitest";
import { useSteps } from "../install/steps.ts";
import { TOKENS, testVars } from "../tokens.ts";

/** The variables of the gateway in the machine. */
const VARIABLES = {
  API_TOKENS: testVars.API_TOKENS,
  BRIDGE_TOKENS: testVars.BRIDGE_TOKENS,
  EDGECALL_DIR: "/var/gateway",
  OWNER: TOKENS.owner,
};

describe("install.sh CODE --with-bridge", {
  tags: ["needs/root", "needs/systemd-container", "needs/mosquitto", "needs/bubblewrap"],
}, () => {
  const lines = Object.entries(VARIABLES).map(([name, value]) => `${name}='${value}'\n`);
  const { step, fine } = useSteps("with-bridge.sh", () => ({
    // workerd does not start without certificates.
    "/etc/ssl": { bind: "/etc/ssl" },
    "/test/gateway.env": { text: lines.join("") },
  }));

  test("a taken port, or a missing Mosquitto, is reported before anything is changed", () => {
    fine("gateway", "nothing-yet");
    expect(step("taken").code).toBe(1);
    expect(step("taken").out).toMatch(
      /port 1883 is taken by mosquitto \(process \d+, broker\.service\).*--broker mqtt:/,
    );
    expect(step("no-apt")).toMatchObject({
      code: 1,
      out: expect.stringMatching(/mosquitto is missing, and there is no apt .*--broker URL/),
    });
  });

  test("one command and one code: agent, bridge and broker run", () => {
    fine("first", "units");
    expect(step("first").out).toContain("this machine is the home's bridge");
    expect(step("first").out).toContain("other devices reach it at mqtt://hub.home:1883");
    expect(step("upgrade").out).not.toContain("other devices");
    expect(step("first").out).toContain("the gateway sees 'eye' online");
  });

  test("the broker sees only its own files, and cannot change those with the logins", () => {
    expect(step("modes").out.split("\n")).toEqual([
      "/etc/edgecall/broker/mosquitto.conf root:root 644",
      "/etc/edgecall/bridge.env root:root 600",
      "/var/lib/edgecall-bridge/key.json edgecall-bridge:edgecall-bridge 600",
      "/var/lib/edgecall-bridge/broker/passwords edgecall-bridge:edgecall-bridge 600",
    ]);
    expect(step("broker-sees").out).toMatch(/^\/var\/lib\/edgecall-bridge:\nbroker$/m);
    expect(step("broker-sees").out.match(/Read-only file system/g)).toHaveLength(2);
    // The bridge's user namespace protects its memory even from its own user's other processes, and the broker cannot
    // see it.
    expect(step("own-memory").out).toContain("Permission denied");
    expect(step("bridge-memory").out).toMatch(/^cat: .*No such file/);
  });

  test("the owner's own login works at once, and no client connects without one", () => {
    fine("login", "zigbee-logs-in", "stranger");
  });

  test("the same command again upgrades and keeps what exists; a killed broker comes back", () => {
    fine("upgrade", "kept", "conf-kept", "broker-ran-on", "upgraded", "broker-back");
  });

  test("uninstalling leaves nothing", () => {
    fine("agent-gone", "bridge-gone", "half-gone", "nothing-left", "no-user");
    expect(step("bridge-gone").out).toMatch(
      /^edgecall-bridge: uninstalled\. Removed: .*, the home's broker, /,
    );
    expect(step("half-gone").out).toBe("edgecall-bridge: uninstalled. Removed: /etc/edgecall/broker");
  });

  test("with --broker it becomes the bridge of an existing broker, and no broker is made", () => {
    fine("elsewhere", "elsewhere-answer", "elsewhere-units", "no-broker-made");
  });
});
