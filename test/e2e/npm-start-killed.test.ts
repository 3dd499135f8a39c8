/** `npm start` and SIGKILL: a killed program is restarted or ends the others, and no turn is lost. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { freePort, isFree } from "../../local/port.ts";
import { script, startScriptedModel } from "../scripted-model.ts";
import { until } from "../wait.ts";
import { killAll, npmStart, processesOf, running, stackPid, useStateFolder } from "./npm-start.ts";

/** The programs notice by themselves, and have 5 s to finish. */
const GONE_WITHIN_MS = 8_000;

describe("npm start", { tags: ["needs/linux"] }, () => {
  const folder = useStateFolder();

  test("leaves no process after a kill, and its folder works for the next start", async () => {
    const port = await freePort();
    await running(npmStart(folder.path, [], { PORT: String(port) }));
    process.kill(stackPid(folder.path), "SIGKILL");
    await until(() => processesOf(folder.path).length === 0, { within: GONE_WITHIN_MS });
    expect(await isFree(port, 0)).toBe(true);

    const asked = npmStart(folder.path, ["--ask", "How much memory is there?"], { PORT: String(port) });
    expect(await asked.code, asked.err()).toBe(0);
    expect(asked.out()).toMatch(/memory: \d+ % used /);
  });

  test("ends with npm, also when only npm is told to stop", async () => {
    const started = npmStart(folder.path, [], { PORT: String(await freePort()) });
    await running(started);
    // Only npm and not its group, as a service manager or a script does it.
    started.child.kill("SIGTERM");
    await until(() => processesOf(folder.path).length === 0, { within: GONE_WITHIN_MS });
  });

  test("restarts each of its programs that is killed", async () => {
    const started = npmStart(folder.path, [], { PORT: String(await freePort()) });
    const client = await running(started);
    const [agent] = await client.agents();
    for (const program of ["bridge/main.ts", "pi-agent/main.ts", "local/worker.ts"]) {
      const pid = processesOf(folder.path).find((one) =>
        readFileSync(`/proc/${one}/cmdline`, "utf8").includes(program),
      );
      if (pid === undefined) throw new Error(`${program} does not run`);
      process.kill(pid, "SIGKILL");
    }
    await until(() => started.err().match(/is started again/g)?.length === 3);
    await client.online(agent?.id ?? "");
    expect((await client.ask("How much memory is there?")).answer).toMatch(/memory: \d+ % used /);
  });

  test("all its programs are killed with a turn in flight: the next start finishes the turn", async () => {
    const model = await startScriptedModel();
    const env = { LLM_BASE_URL: model.url, LLM_MODEL: "scripted", PORT: String(await freePort()) };
    try {
      const client = await running(npmStart(folder.path, [], env));
      const turn = await client.begin(script({ hang: "before" }, { text: "here it is" }), "c");
      await until(() => model.requests.length === 1);
      await killAll(folder.path);

      await running(npmStart(folder.path, [], env));
      // A client that attaches continues the turn at once; without one its alarm does, within 10 s.
      const events = await client.fetch(`/v1/conversations/c/turns/${turn}/events`);
      expect(await events.text()).toContain('"answer":"here it is"');
      expect(await client.settled("c", turn)).toMatchObject({ status: "done", answer: "here it is" });
      expect(model.requests).toHaveLength(2);
    } finally {
      await model.close();
    }
  });
});
