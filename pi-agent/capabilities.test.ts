import { expect, test } from "vitest";
import { defaultCapabilities } from "./capabilities.ts";
import { PI_ZERO_2W, tree } from "./testing/tree.ts";
import { temperatureMissing } from "./tools/temperature.ts";

const ALL = ["bash", "cpu", "disk", "gpio_read", "list_processes", "memory", "read", "services", "snapshot"];
const line = (agentType: string, offered: readonly string[]) =>
  defaultCapabilities({ agentType, agentId: "eye" }, offered);

test("D12 the default advert promises what is offered, and nothing else", () => {
  expect(line("monitor", ["temperature", ...ALL])).toBe(
    "eye sensor node — temperature, CPU/memory/disk stats, process monitoring, camera snapshot, GPIO pins, services and their logs, files, shell",
  );
  expect(line("monitor", ["cpu", "disk", "memory", "list_processes"])).toBe(
    "eye sensor node — CPU/memory/disk stats, process monitoring",
  );
  expect(line("sensor", ["cpu", "temperature"])).toBe("eye sensor node — temperature");
  expect(line("trader", [])).toBe("eye trading agent");
  expect(line("desktop", ["read", "bash"])).toBe("eye desktop agent — files, shell");
  expect(line("constructor", ["read"])).toBe("eye edge agent — files");
});

test("D12 temperature is offered only where there is a sensor", async () => {
  expect(await temperatureMissing({ root: tree(PI_ZERO_2W) })).toBeUndefined();
  expect(await temperatureMissing({ root: tree({ "/etc/hostname": "vm" }) })).toContain(
    "no temperature sensor",
  );
});
