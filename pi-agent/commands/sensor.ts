/** `sensor`: a reading by the sensor's name, under the same policy as any call. */
import { errorFields } from "@edgecall/core/tools/advice.ts";
import { textOf } from "@edgecall/core/tools/contract.ts";
import type { CommandCall } from "../calls/command.ts";
import type { CommandKind } from "../calls/command-kind.ts";
import type { OfferedTools } from "../calls/offered-tools.ts";
import type { RunAction } from "../calls/run-action.ts";
import { failed, type Reply, succeeded } from "../link/reports.ts";

type Args = Record<string, unknown>;

/** The tool that reads each sensor. Only tools that change nothing, since this command is a look. */
const SENSORS = new Map<string, (args: Args) => string>([
  ["temperature", () => "temperature"],
  ["cpu", () => "cpu"],
  ["memory", () => "memory"],
  ["disk", () => "disk"],
  ["system", () => "system_info"],
  ["network", () => "network_info"],
  ["processes", () => "list_processes"],
  ["services", () => "services"],
  ["gpio", ({ pin }) => (pin === undefined ? "gpio_list" : "gpio_read")],
]);
const ALIASES = new Map([
  ["temp", "temperature"],
  ["mem", "memory"],
  ["info", "system"],
  ["net", "network"],
]);
/** The sensors of `all`: EvoClaw's own, since its callers expect exactly these. */
const ALL = ["temperature", "cpu", "memory", "disk", "system"];
/** Fields of the payload that are not for the tool. */
const NOT_ARGUMENTS = ["type", "request_id", "timeout_ms"];

type Reading = {
  success: boolean;
  data: Record<string, unknown> | null;
  error: string | null;
  advice?: string;
};

export type SensorParts = {
  tools: Pick<OfferedTools, "registry" | "unavailable">;
  runAction: RunAction;
};

export function sensor(parts: SensorParts): CommandKind {
  return {
    kind: "look",
    async run(call): Promise<Reply> {
      const { payload } = call.command;
      const asked = payload.type ?? "all";
      const type = typeof asked === "string" ? (ALIASES.get(asked) ?? asked) : "";
      if (type === "all") {
        const readings = await Promise.all(ALL.map((name) => read(name, {}, call, parts)));
        const data = ALL.map((name, index) => [name, readings[index]?.data ?? null]);
        return succeeded({ sensor: "all", data: Object.fromEntries(data) });
      }
      if (!SENSORS.has(type)) {
        const available = [...SENSORS.keys()].filter((name) => isReadable(name, parts)).join(", ");
        return failed(`unknown sensor type: ${String(asked).slice(0, 100)}. Available: ${available}, all`);
      }
      const args = Object.entries(payload).filter(([name]) => !NOT_ARGUMENTS.includes(name));
      return succeeded({ sensor: type, ...(await read(type, Object.fromEntries(args), call, parts)) });
    },
  };
}

function isReadable(name: string, { tools }: SensorParts): boolean {
  return tools.registry.get(SENSORS.get(name)?.({}) ?? "") !== undefined;
}

async function read(
  name: string,
  args: Args,
  call: CommandCall,
  { tools, runAction }: SensorParts,
): Promise<Reading> {
  const tool = SENSORS.get(name)?.(args) ?? name;
  if (!tools.registry.get(tool)) {
    const why = tools.unavailable.find((one) => one.name === tool)?.why;
    const error = `Error: The sensor '${name}' cannot be read on this device${why ? `: ${why}` : ""}.`;
    return { success: false, data: null, ...errorFields(error) };
  }
  const { result } = await runAction({ callId: call.command.request_id, name: tool, args }, call);
  const text = textOf(result);
  if (result.fault)
    return { success: false, data: null, ...errorFields({ text, advice: result.fault.advice }) };
  return { success: true, data: { ...result.details, text }, error: null };
}
