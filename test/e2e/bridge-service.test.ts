/** The bridge as a service on a machine with a systemd of its own: install, bounds, watchdog, update, uninstall. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { versionOf } from "../../cli/service/trial.ts";
import { bundleCommand } from "../../local/bundles.ts";
import { machineMissing, runInMachine } from "../install/machine.ts";
import { type Step, stepsOf } from "../install/steps.ts";

const ROOT = join(import.meta.dirname, "../..");
const missing = machineMissing();

describe.skipIf(missing !== undefined)("the bridge as a service", () => {
  const folder = mkdtempSync(join(tmpdir(), "edgecall-bridge-service-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  let step: (name: string) => Step;

  beforeAll(async () => {
    const bundle = await bundleCommand();
    const [shebang] = bundle.split("\n");
    const program = (name: string, text: string) => {
      const path = join(folder, name);
      writeFileSync(path, text);
      return { bind: path };
    };
    const ends = `if (process.argv[2] === "--version") console.log("edgecall 9.9.9"); else process.exit(3)`;
    const ran = await runInMachine({
      script: readFileSync(join(ROOT, "test/install/bridge-service.sh"), "utf8"),
      within: 220_000,
      files: {
        "/opt/node/bin/node": { bind: process.execPath },
        "/repo": { bind: ROOT },
        "/test/edgecall.cjs": program("edgecall.cjs", bundle),
        "/test/newer.cjs": program("newer.cjs", `${bundle}\n// Other bytes.\n`),
        "/test/ends.cjs": program("ends.cjs", `${shebang}\n${ends}\n`),
        "/test/mosquitto.conf": { text: "listener 1883 127.0.0.1\nallow_anonymous true\n" },
      },
    });
    step = stepsOf(ran);
  }, 240_000);

  /** Steps that have to end with 0; what they said is shown if not. */
  const fine = (...names: string[]) => {
    for (const name of names) expect({ name, ...step(name) }).toMatchObject({ name, code: 0 });
  };

  test("install brings it online, with settings that root alone reads; wrong ones change nothing", () => {
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

  test("status and doctor tell how it is, and what to do when the gateway is away", () => {
    fine("status", "doctor");
    const { service, bridge } = JSON.parse(step("status").out);
    expect(service).toMatchObject({ active: "active", enabled: true });
    expect(bridge).toMatchObject({ online: true, gateway: { up: true }, broker: { up: true } });
    expect(step("doctor").out).toMatch(/^ok +gateway .* has welcomed it$/m);
    const { code, out } = step("no-gateway");
    expect(code).toBe(1);
    expect(out).toMatch(/^WRONG gateway .*\n +→ is GATEWAY_URL right, and is the Internet there\?/m);
    expect(out).toMatch(/^ok +broker /m);
    expect(step("no-update").out).toContain("is not online now");
  });

  test("it cannot read its settings' file, nor change its program", () => {
    expect(step("bounds").out.split("\n")).toEqual([
      expect.stringMatching(/bridge\.env: Permission denied/),
      expect.stringMatching(/launch: Read-only/),
      "written",
    ]);
  });

  test("one that hangs is ended by the watchdog and comes back", () => {
    fine("watchdog", "watched", "online-again");
    expect(step("journal").out).toContain("Watchdog timeout");
  });

  test("an update that comes online stays; one that does not goes back by itself", () => {
    fine("update", "after-ends");
    const good = /^(\S+) is online/m.exec(step("update").out)?.[1] ?? "";
    expect(good).toMatch(new RegExp(`^${VERSION.replaceAll(".", "\\.")}-[0-9a-f]{12}$`));
    expect(step("ends-at-once")).toMatchObject({
      code: 1,
      out: expect.stringContaining(`back to ${versionOf(good)}:`),
    });
  });

  test("with an agent beside it, taking one away leaves the other whole", () => {
    fine("agent", "link", "agent-gone", "bridge-stays", "link-after");
    expect(step("link").out).toBe("/opt/edgecall/current/edgecall");
    expect(step("link-after").out).toBe("/opt/edgecall-bridge/current/edgecall");
  });

  test("uninstall leaves nothing, or what it is told to keep", () => {
    fine("keep", "kept", "again", "purge", "nothing-left", "no-user");
  });
});
