/** A publisher that does its worst, with a bridge as a process: the agents beside it are served as before. */
import { expect, test } from "vitest";
import { cpuMs } from "../../test/cpu-ms.ts";
import { until } from "../../test/wait.ts";
import { usePlayedDevices } from "../testkit/devices.ts";

const hosted = usePlayedDevices();
const { played } = hosted;

/** Each is among the worst of its kind. A message has at most 16 KB. */
const TEMPLATES = [
  "{{ value | float(0) }}",
  "{% for i in range(3000) %}{{ value | int(0) }}{% endfor %}",
  "{% for i in range(3000) %}{{ value.replace('9', value) }}{% endfor %}",
  "{{ value | regex_replace('[^q]*q|.', value) }}",
  "{% for i in range(3000) %}{{ value is search('(?:9?){100}9{100}q') }}{% endfor %}",
  "{{ value.split('9') | sort | unique | list | length }}",
  "{{ (value ~ value ~ value) | from_json([]) | length }}",
  "{% macro f(n) %}{{ f(n - 1) ~ f(n - 1) if n > 0 }}{% endmacro %}{{ f(20) }}",
];

test("S22: 2,000 sensors of one topic with the worst templates leave an agent's ping below a second of the bridge's processor time", {
  tags: ["needs/linux"],
  timeout: 300_000,
}, async () => {
  const { pid = 0 } = await hosted.process();
  const agent = await played.agent("pi");
  agent.client.on("message", (_, payload) => {
    const { request_id } = JSON.parse(payload.toString("utf8"));
    void agent.report("result", {
      status: "success",
      tool: "uptime",
      result: "up",
      exit_code: 0,
      request_id,
    });
  });
  await hosted.agentIn("pi");
  for (let n = 0; n < 2_000; n += 1)
    await hosted.publisher.config(`sensor/s${n}`, {
      unique_id: `s${n}`,
      name: `S${n}`,
      state_topic: "all",
      value_template: TEMPLATES[n % TEMPLATES.length],
      device: { identifiers: [`d${n % 250}`], name: `Device ${n % 250}` },
    });
  await until(() => hosted.told().size >= 251, { within: 120_000, every: 200, what: "all devices are told" });

  const ping = async () => {
    const before = cpuMs(pid);
    const id = played.call("pi", undefined, 30_000);
    await played.home.next("report", (frame) => frame.id === id);
    return cpuMs(pid) - before;
  };
  const costs: number[] = [];
  let isOver = false;
  const pinging = (async () => {
    while (!isOver) costs.push(await ping());
  })();
  for (const value of ["9".repeat(16_000), "9_".repeat(8_000), "[1,".repeat(5_000), "1"]) {
    await Promise.all(Array.from({ length: 20 }, (_, n) => hosted.publisher.say("all", value + n)));
    const seen = costs.length;
    await until(() => costs.length > seen + 3, { within: 30_000 });
  }
  // Configs are as large as they may be, and change all the time.
  for (let n = 0; n < 100; n += 1)
    await hosted.publisher.config(`text/t${n % 5}`, {
      unique_id: `t${n % 5}`,
      name: `T${n}`,
      state_topic: "all",
      command_topic: "t/set",
      pattern: `${"[a-z ]{0,99}".repeat(14)}${n}`,
      value_template: `${"{{ value | regex_replace('(a|b)*', 'x') }}".repeat(700)}${n}`,
      device: { identifiers: ["t"], name: "Texts" },
    });
  isOver = true;
  await pinging;
  expect(Math.max(...costs)).toBeLessThan(1_000);
});
