/** The agent as a service on a machine with its own systemd: install, sandbox, watchdog, update, uninstall. */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { describe, expect, test } from "vitest";
import { versionOf } from "../../cli/service/updates/trial.ts";
import { programs } from "../install/programs.ts";
import { useSteps } from "../install/steps.ts";

const SETTINGS = `agent_id = "eye"
[policy]
shell = "allow"
`;

describe("as a service", {
  tags: ["needs/root", "needs/systemd-container", "needs/mosquitto", "needs/bubblewrap"],
}, () => {
  const { step, fine } = useSteps("service.sh", async () => ({
    ...(await programs()),
    "/test/agent.toml": { text: SETTINGS },
    "/test/wrong.toml": { text: 'agent_id = "no spaces"\n' },
  }));

  test("install brings it online, with settings that the agent reads and cannot change; wrong settings change nothing", () => {
    fine("install", "modes");
    expect(step("install").out).toContain("the agent is online");
    expect(step("modes").out.split("\n")).toEqual([
      "/etc/edgecall root:root 755",
      "/etc/edgecall/agent.toml root:edgecall 640",
      "/var/lib/edgecall edgecall:edgecall 700",
      "/opt/edgecall/current/edgecall root:root 755",
      "/run/edgecall/status.json edgecall:edgecall 600",
    ]);
    expect(step("refused-settings")).toMatchObject({
      code: 2,
      out: expect.stringContaining("agent_id: Invalid string"),
    });
  });

  test("status and doctor report its state, and what to do when the broker is away", () => {
    fine("status", "doctor");
    const { service, versions, agent } = JSON.parse(step("status").out);
    expect(service).toMatchObject({ active: "active", enabled: true, restarts: expect.any(Number) });
    expect(versions).toMatchObject({ previous: null, on_trial: false, rolled_back: null });
    expect(agent).toMatchObject({ agent_id: "eye", online: true, broker: "mqtt://127.0.0.1:1883" });
    expect(step("doctor").out).toMatch(/^ok +sandbox +bash runs in it$/m);
    const { code, out } = step("no-broker");
    expect(code).toBe(1);
    expect(out).toMatch(
      /^WRONG broker .*ECONNREFUSED.*\n +→ nothing listens there, .*does Mosquitto run here/m,
    );
    expect(step("no-update")).toMatchObject({
      code: 1,
      out: expect.stringContaining("is not online now"),
    });
    fine("broker-back");
  });

  test("bash runs in the sandbox within the unit, and the unit's limits apply", () => {
    fine("sandboxed", "unsandboxed", "notify-fd");
    const { status, result } = JSON.parse(step("sandboxed").out);
    expect(status).toBe("success");
    expect(result).toMatch(/^\d+\n\/var\/lib\/edgecall\/workspace\nwritten/);
    expect(result).not.toMatch(/^0\n/);
    expect(Number.parseInt(step("notify-fd").out, 8) & 0o2000000).not.toBe(0);
    expect(step("tunables").out.split("\n")).toEqual([
      expect.stringMatching(/\/proc\/sys\/kernel\/core_pattern: Read-only/),
      expect.stringMatching(/edgecall-proc\/sys\/kernel\/core_pattern: Permission denied/),
      expect.stringMatching(/max_user_namespaces: Permission denied/),
      expect.stringMatching(/\/opt\/edgecall\/launch: Read-only/),
      expect.stringMatching(/kmsg: (Permission denied|Operation not permitted)/),
    ]);
  });

  test("the watchdog ends a hanging agent, and it comes back", () => {
    fine("watchdog", "watched", "online-again");
    expect(step("journal").out).toContain("Watchdog timeout");
  });

  test("its workspace is served over HTTP: programs run in the sandbox within the unit", () => {
    fine("serve", "serve-online", "served", "serve-doctor");
    expect(step("served").out).toMatch(/^[1-9]\d*\n\/var\/lib\/edgecall\/workspace\nwritten\nexit code 0$/);
    expect(step("serve-doctor").out).toMatch(/^ok +serving +/m);
  });

  test("a job goes on when the agent is restarted, and nothing else of the agent does", () => {
    fine("begin-job", "leave-another", "job-restart", "job-online", "another-ended", "job-ends");
    expect(step("job-ends").out).toBe("the job is over");
  });

  test("an update that comes online stays; one that does not is rolled back", () => {
    fine("update", "same-again", "after-ends", "after-hangs");
    const good = /^(\S+) is online/m.exec(step("update").out)?.[1] ?? "";
    expect(good).toMatch(new RegExp(`^${VERSION.replaceAll(".", "\\.")}-[0-9a-f]{12}$`));
    for (const name of ["ends-at-once", "hangs"]) {
      expect({ name, ...step(name) }).toMatchObject({
        code: 1,
        out: expect.stringContaining(`back to ${versionOf(good)}:`),
      });
    }
    expect(step("not-the-sum").out).toContain("nothing was changed");
    expect(step("no-program").out).toContain("does not run here");
    expect(step("status-after").out).toMatch(/^went back from 9\.9\.9-\S+: it did not come online$/m);
    expect(step("versions").out).toBe(good);
  });

  test("a power cut during a trial run, with a damaged mark, ends with the previous version", () => {
    fine("power-cut", "power-cut-online", "power-cut-version");
  });

  test("uninstall leaves nothing except what it is told to keep", () => {
    fine(
      "reinstall",
      "keep",
      "kept",
      "again",
      "purge",
      "purge-half",
      "purge-none",
      "nothing-left",
      "no-user",
    );
  });

  test("uninstall reports what was there, and what remains", () => {
    const own = "/etc/edgecall/agent.toml";
    const gone = "edgecall-agent: uninstalled. Removed: ";
    expect(step("keep").out).toBe(
      `${gone}the service edgecall-agent, /opt/edgecall. Kept, for another install: ${own} and /var/lib/edgecall`,
    );
    expect(step("purge").out).toBe(
      `${gone}the service edgecall-agent, /opt/edgecall, ${own}, /var/lib/edgecall, the user edgecall`,
    );
    expect(step("purge-half").out).toBe(`${gone}/opt/edgecall, ${own}`);
    expect(step("purge-none").out).toBe("edgecall-agent: nothing of it was installed here");
  });
});
