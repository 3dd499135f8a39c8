import { ToolRegistry } from "@edgecall/core/tools/registry.ts";
import { expect, test } from "vitest";
import { localFiles } from "../env/local-files.ts";
import { probe } from "../testing/tools.ts";
import { kernelTools } from "../toolbox/all.ts";
import { read } from "../tools/files/read.ts";
import { actionsOf } from "./adverts.ts";

test("an action says that it brings a stranger's text, and how long it may wait for its agent", () => {
  const patient = probe("patient", { queueMs: 60_000 }).tool;
  const tools = [...kernelTools({ root: "/" }), read({ files: localFiles({ cwd: "/nowhere" }) }), patient];
  const actions = new Map(actionsOf(new ToolRegistry(tools)).map((action) => [action.name, action]));
  expect(actions.get("read")).toMatchObject({ effect: "read", taints: true });
  expect(actions.get("patient")).toMatchObject({ queue_ms: 60_000 });
  expect(actions.get("cpu")).not.toHaveProperty("taints");
  expect(actions.get("cpu")).not.toHaveProperty("queue_ms");
});
