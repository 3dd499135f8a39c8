/** Every tool that this device offers. */
import type { Tool } from "@edgecall/core/tools/contract.ts";
import { cpu } from "./cpu.ts";
import { disk } from "./disk.ts";
import { listProcesses } from "./list-processes.ts";
import { memory } from "./memory.ts";
import { networkInfo } from "./network-info.ts";
import { read } from "./read.ts";
import { systemInfo } from "./system-info.ts";
import { temperature } from "./temperature.ts";

/**
 * @param place.root /proc, /sys and /etc are read below it
 * @param place.workspace the folder whose files may be read
 */
export function deviceTools(place: { root: string; workspace: string }): Tool[] {
  return [
    temperature(place),
    cpu(place),
    memory(place),
    disk(place),
    systemInfo(place),
    networkInfo(place),
    listProcesses(place),
    read(place),
  ];
}
