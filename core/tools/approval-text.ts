/** Writes out what an approval is for: the arguments of one call, or a line for each of several calls. */
import { visible, visibleJson } from "./visible.ts";

type Shown = { approval: { parameters: Record<string, unknown> }; members?: readonly unknown[] | undefined };

/** Returns all of it, with visible characters only. @param indent of the JSON of one call */
export function approvalText({ approval, members }: Shown, indent: number): string {
  if (!members) return visibleJson(approval.parameters, indent);
  // The gateway makes the names: number, action and device.
  return Object.entries(approval.parameters)
    .map(([name, args]) => `${visible(name).replaceAll("\n", "\\n")} ${visibleJson(args)}`)
    .join("\n");
}
