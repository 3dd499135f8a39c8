/** A bridge as a process: killed while a device's command waits, and what many devices take of its memory. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bundleBridge } from "../../local/bundles.ts";
import { NODE_FLAGS } from "../../pi-agent/config/node-options.ts";
import { until } from "../../test/wait.ts";
import { usePlayedDevices } from "../testkit/devices.ts";

const hosted = usePlayedDevices();
const { played } = hosted;

/** Processes start slowly on a busy machine. */
const WITHIN_MS = 300_000;

async function kill(child: ChildProcess): Promise<void> {
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

describe("killed", () => {
  test(
    "while a command waits for its confirmation: it is reported as unknown, and never sent again",
    async () => {
      await hosted.publisher.plug("a", { silent: true });
      const first = await hosted.process();
      await hosted.agentIn("plug-a");
      const id = hosted.call("plug-a", "set", { on: true });
      // `taken` comes after the broker's ack, which the bridge has written down.
      await played.home.next("taken", (frame) => frame.id === id);
      await until(() => hosted.publisher.sentTo("a").length === 1);
      await kill(first);
      played.home.frames.length = 0;

      const second = await hosted.process();
      const report = await hosted.report(id);
      expect(report).toMatchObject({ status: "error", error_type: "outcome_unknown", tainted: false });
      expect(report.error).toMatch(
        /^Error: Sent to Plug a, not confirmed: the bridge was ended before an answer came/,
      );
      hosted.resend(id, "plug-a", "set", { on: true });
      await until(() => played.home.of("report").length === 2);
      // The report is not acked, so the next bridge has it too.
      await kill(second);
      played.home.frames.length = 0;
      await hosted.process();
      expect(await hosted.report(id)).toEqual(report);
      played.home.send({ t: "ack", id, agent: "plug-a" });
      // A call of a device that is gone is recognised too.
      await hosted.publisher.config("switch/a", "");
      await played.home.next("gone");
      hosted.resend(id, "plug-a", "set", { on: true });
      await until(() => played.home.of("report").length === 2);
      expect(hosted.publisher.sentTo("a")).toEqual(["ON"]);
    },
    WITHIN_MS,
  );

  test(
    "after a command that nothing ever confirms was sent: it was sent, and nobody knows more",
    async () => {
      await hosted.publisher.on("siren/set", () => {});
      await hosted.publisher.config("button/siren", {
        unique_id: "siren",
        command_topic: "siren/set",
        device: { identifiers: ["siren"], name: "Bell" },
      });
      const first = await hosted.process();
      await hosted.agentIn("bell");
      const id = hosted.call("bell", "press");
      const before = await hosted.report(id);
      await kill(first);
      // As if the bridge had been killed before it wrote down how the call ended.
      const ledger = join(hosted.folder, "device-calls.jsonl");
      const lines = readFileSync(ledger, "utf8").split("\n");
      writeFileSync(ledger, lines.filter((line) => !line.includes('"t":"done"')).join("\n"));
      played.home.frames.length = 0;
      await hosted.process();
      expect(await hosted.report(id)).toMatchObject({
        status: "success",
        confirmed: false,
        result: before.result,
      });
      expect(hosted.publisher.commands).toHaveLength(1);
    },
    WITHIN_MS,
  );
});

test(
  "300 devices of 2,000 configs, each reporting: less than 120 MB",
  async () => {
    const program = join(mkdtempSync(join(tmpdir(), "bridge-")), "bridge.mjs");
    writeFileSync(program, await bundleBridge());
    const { publisher } = hosted;
    // Of the size that real configs have (927 bytes in the median).
    const config = (device: number, n: number) =>
      publisher.config(`sensor/d${device}/s${n}`, {
        name: `Value ${n}`,
        unique_id: `d${device}_s${n}`,
        object_id: `device_${device}_value_${n}`,
        state_topic: `net/Device ${device}`,
        value_template: `{{ value_json.v${n} | round(1) }}`,
        unit_of_measurement: "°C",
        device_class: "temperature",
        state_class: "measurement",
        enabled_by_default: true,
        availability: [
          { topic: "net/bridge/state", value_template: "{{ value_json.state }}" },
          { topic: `net/Device ${device}/availability`, value_template: "{{ value_json.state }}" },
        ],
        availability_mode: "all",
        device: {
          identifiers: [`net_0x${String(device).padStart(16, "0")}`],
          name: `Device ${device}`,
          manufacturer: "A maker of devices",
          model: "Temperature and humidity sensor with a display",
          model_id: "TS0201-and-more",
          sw_version: "3000-0001",
          hw_version: 1,
          via_device: "net_bridge_0x0000000000000000",
          configuration_url: `http://192.168.1.2:8080/#/device/${device}/info`,
        },
        origin: { name: "A publisher", sw: "2.14.1", url: "https://www.example.com/publisher" },
      });
    const state = (device: number, round: number) => {
      const values = Array.from({ length: 10 }, (_, n) => [`v${n}`, device + n / 10 + round]);
      return publisher.say(`net/Device ${device}`, Object.fromEntries(values));
    };
    const devices = Array.from({ length: 300 }, (_, n) => n);
    await publisher.say("net/bridge/state", { state: "online" }, true);
    for (const device of devices) {
      // 2,000 in all.
      await Promise.all(Array.from({ length: device < 200 ? 7 : 6 }, (_, n) => config(device, n)));
      await publisher.say(`net/Device ${device}/availability`, { state: "online" }, true);
    }
    const child = await hosted.process([...NODE_FLAGS, program]);
    const areThere = () => [...hosted.told().values()].filter(({ online }) => online).length === 300;
    await until(areThere, { within: WITHIN_MS, every: 200, what: "all devices are online" });
    const valueOfLast = async () => {
      const id = crypto.randomUUID();
      played.home.send({ t: "states", id, agents: ["device-299"] });
      const { devices } = await played.home.next("states", (frame) => frame.id === id);
      return devices[0]?.readings[0]?.value;
    };
    // On a busy machine the broker is ahead of the bridge, and all that waits would be measured too.
    for (let round = 0; round < 20; round += 1) {
      await Promise.all(devices.map((device) => state(device, round)));
      const isRead = async () => (await valueOfLast()) === 299 + round;
      await until(isRead, { within: WITHIN_MS, every: 20, what: `values of round ${round}` });
    }
    played.home.send({ t: "states", id: "all" });
    await played.home.next("states", (frame) => frame.id === "all" && frame.last);
    const all = played.home.of("states").flatMap((frame) => (frame.id === "all" ? frame.devices : []));
    expect(all.reduce((sum, { readings }) => sum + readings.length, 0)).toBe(2_000);
    const kilobytes = (name: string) =>
      Number(
        new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(
          readFileSync(`/proc/${child.pid}/status`, "utf8"),
        )?.[1],
      );
    console.log(`bridge with 300 devices: ${kilobytes("VmRSS")} kB now, ${kilobytes("VmHWM")} kB at most`);
    expect(kilobytes("VmRSS")).toBeLessThan(120_000);
  },
  WITHIN_MS,
);
