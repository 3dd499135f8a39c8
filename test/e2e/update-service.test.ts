/**
 * Agent and bridge update themselves on a machine with its own systemd: on command, by the timer, and with a roll-back.
 */
import { VERSION } from "@edgecall/core/protocol/names.ts";
import { describe, expect, test } from "vitest";
import { programs } from "../install/programs.ts";
import { useSteps } from "../install/steps.ts";

const NAME = `${VERSION}-[0-9a-f]{12}`;
const SETTINGS = `agent_id = "eye"
[policy]
update_self = "allow"
`;

describe("automatic updates", {
  tags: ["needs/root", "needs/systemd-container", "needs/mosquitto", "needs/bubblewrap"],
}, () => {
  const { step, fine } = useSteps("update-service.sh", async () => ({
    ...(await programs()),
    "/test/agent.toml": { text: SETTINGS },
  }));

  test("an unpaired device has no gateway; the gateway's version is already in use", () => {
    fine("install", "in-use", "doctor");
    expect(step("doctor").out).toMatch(/^ok +updates +from http\S+, on command and at night$/m);
    expect(step("not-paired")).toMatchObject({ code: 1, out: expect.stringContaining("pair this machine") });
    expect(step("in-use").out).toMatch(new RegExp(`^${NAME} is in use already$`));
  });

  test("a requested update is made by root, and the new version reports it as the job's result", () => {
    fine("asked", "rights", "no-request");
    expect(step("asked").out).toMatch(new RegExp(`^success ${NAME} is online; before it ${NAME}$`));
    expect(step("rights").out.split("\n")).toEqual([
      "/opt/edgecall/updates.json root:root 644",
      "/etc/systemd/system/edgecall-agent-update.path root:root 644",
    ]);
  });

  test("a version that does not come online is rolled back, and the previous one reports why; the timer does not try it again", () => {
    fine("asked-bad", "online-after", "timer-run", "status");
    expect(step("asked-bad").out).toContain(
      `error Error: The update failed: 9.9.9 did not come online; back to ${VERSION}: it ended with exit code 3`,
    );
    const { updates, versions } = JSON.parse(step("status").out);
    expect(versions.rolled_back).toMatch(/^9\.9\.9-/);
    expect(updates).toMatchObject({
      scheduled: true,
      next: expect.any(String),
      last: {
        asked: { done: true, ok: false },
        scheduled: { ok: true, text: expect.stringContaining("is not tried again") },
      },
    });
  });

  test("only a person can force an older version", () => {
    fine("forced");
    expect(step("older")).toMatchObject({ code: 1, out: expect.stringContaining(`older than ${VERSION}`) });
    expect(step("forced").out).toContain("is online; before it");
  });

  test("when root's part is killed, the next run continues", () => {
    fine("killed");
    expect(step("killed").out).toMatch(/^success \S+ is online; before it \S+$/);
  });

  test("a request that is a link has no effect", () => {
    fine("gone", "link-not-followed");
    expect(step("link-not-followed").out).toBe("root");
  });

  test("the bridge updates itself on the gateway's request", () => {
    fine("bridge", "bridge-online", "bridge-updated", "bridge-bad", "bridge-after");
    expect(step("bridge-updated").out).toMatch(/^true \S+ is online; before it \S+$/);
    expect(step("bridge-bad").out).toContain(`false 9.9.9 did not come online; back to ${VERSION}: it ended`);
  });

  test("the timer can be turned off, and uninstalling leaves nothing", () => {
    expect(step("nothing-left")).toEqual({ out: "", code: 0 });
    fine("off", "purge", "no-user");
    expect(step("timer").out).toContain("edgecall-agent-update.timer");
    expect(step("timer-off").out).toBe("disabled");
  });
});
