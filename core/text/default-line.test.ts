import { expect, test } from "vitest";
import { defaultLine } from "./default-line.ts";

const ALL = ["bash", "cpu", "disk", "gpio_read", "list_processes", "memory", "read", "services", "snapshot"];
const line = (agentType: string, offered: readonly string[]) =>
  defaultLine({ agentType, agentId: "eye" }, offered);

test("D12 the default advert promises exactly what is offered", () => {
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
