import { expect, test } from "vitest";
import { findCircles, findFolderCircles, findForbidden, type Imports, importedPaths } from "./imports.ts";

/** @param sources path → text */
const importsOf = (sources: Record<string, string>): Imports =>
  new Map(Object.entries(sources).map(([path, text]) => [path, importedPaths(path, text)]));

test("each form of import is read", () => {
  const text = `
    import "./a.ts";
    import type { B } from "../b.ts";
    import {
      c,
    } from "@edgecall/core/c.ts";
    export * from "./d.ts";
    type E = import("./e.ts").E;
    const f = await import("./f.ts");
    import { join } from "node:path";
  `;
  expect(importedPaths("worker/home/x.ts", text)).toEqual([
    "worker/home/a.ts",
    "worker/b.ts",
    "core/c.ts",
    "worker/home/d.ts",
    "worker/home/e.ts",
    "worker/home/f.ts",
  ]);
});

test("a circle of type imports alone is found, and a file that only leads to it is not part of it", () => {
  const imports = importsOf({
    "core/leads.ts": `import { a } from "./a.ts";`,
    "core/a.ts": `import type { B } from "./b.ts";`,
    "core/b.ts": `import type { C } from "./c.ts"; import "./leaf.ts";`,
    "core/c.ts": `export type { A } from "@edgecall/core/a.ts";`,
    "core/leaf.ts": "",
    "core/self.ts": `type Self = typeof import("./self.ts");`,
  });
  expect(findCircles(imports)).toEqual([["core/a.ts", "core/b.ts", "core/c.ts"], ["core/self.ts"]]);
});

test("a circle of folders is found, though no file imports itself through others, and its arrows are named", () => {
  const imports = importsOf({
    "core/text/a.ts": `import type { B } from "../tools/deep/b.ts";`,
    "core/text/base.ts": "",
    "core/tools/deep/b.ts": "",
    "core/tools/c.ts": `import "../text/base.ts";`,
    "core/leads.ts": `import "./text/a.ts";`,
  });
  expect(findCircles(imports)).toEqual([]);
  expect(findFolderCircles(imports, ["core"])).toEqual([
    [
      "core/text → core/tools, as core/text/a.ts → core/tools/deep/b.ts",
      "core/tools → core/text, as core/tools/c.ts → core/text/base.ts",
    ],
  ]);
  expect(findFolderCircles(imports, ["worker"])).toEqual([]);
});

test("a file beside a folder is above or below it: two files may be both, one may not", () => {
  const above = { "cli/main.ts": `import "./agent/a.ts"; import "./settings.ts";`, "cli/settings.ts": "" };
  const folder = { "cli/agent/a.ts": `import "../settings.ts"; import "@edgecall/cli/agent/b.ts";` };
  expect(findFolderCircles(importsOf({ ...above, ...folder, "cli/agent/b.ts": "" }), ["cli"])).toEqual([]);
  const back = { "cli/agent/b.ts": `import type { Main } from "../main.ts";` };
  expect(findFolderCircles(importsOf({ ...above, ...folder, ...back }), ["cli"])).toEqual([
    [
      "cli/agent → cli/main.ts, as cli/agent/b.ts → cli/main.ts",
      "cli/main.ts → cli/agent, as cli/main.ts → cli/agent/a.ts",
    ],
  ]);
});

test("subfolders of one folder make a circle too, and files alone are none of folders", () => {
  const imports = importsOf({
    "bridge/devices/a/a.ts": `import "../b/b.ts";`,
    "bridge/devices/b/b.ts": "",
    "bridge/devices/b/c.ts": `import "../a/d.ts";`,
    "bridge/devices/a/d.ts": "",
    "bridge/e.ts": `import "./f.ts"; import "@edgecall/node/log.ts";`,
    "bridge/f.ts": `import "./e.ts";`,
    "node/log.ts": `import "@edgecall/bridge/e.ts";`,
  });
  expect(findFolderCircles(imports, ["bridge", "node"])).toEqual([
    [
      "bridge/devices/a → bridge/devices/b, as bridge/devices/a/a.ts → bridge/devices/b/b.ts",
      "bridge/devices/b → bridge/devices/a, as bridge/devices/b/c.ts → bridge/devices/a/d.ts",
    ],
  ]);
});

test("an import of another program's folder is found, unless it is allowed", () => {
  const imports = importsOf({
    "core/loop/a.ts": `import type { Env } from "../../worker/kernel/env.ts";`,
    "worker/a.ts": `import "@edgecall/core/loop/a.ts"; import "./env.ts"; import "@edgecall/bridge/log.ts";`,
    "cli/a.ts": `import "@edgecall/pi-agent/run.ts";`,
  });
  expect(findForbidden(imports)).toEqual([
    "core/loop/a.ts → worker/kernel/env.ts",
    "worker/a.ts → bridge/log.ts",
  ]);
});

test("the kernel imports no feature, and no feature another one: the lists alone know them", () => {
  const imports = importsOf({
    "worker/index.ts": `import "./features/mcp/routes.ts"; import "./home.ts"; import "./kernel/routes/turns.ts";`,
    "worker/home.ts": `import "./features/rules/home/feature.ts"; import "./kernel/home/home.ts";`,
    "worker/conversation.ts": `import "./features/chat/conversation/feature.ts";`,
    "worker/more.ts": `import "./features/chat/contract.ts";`,
    "worker/kernel/log.ts": `import type { A } from "../features/audit/contract.ts";`,
    "worker/kernel/home/alarm.ts": `import "../../features/rules/home/alarm-part.ts"; import { Home } from "../../home.ts";`,
    "worker/features/mcp/routes.ts": `import "../rules/model-tools.ts"; import "./server.ts"; import "../../kernel/http/app.ts";`,
    "worker/features/rules/home/feature.ts": `import "../../chat/home/feature.ts"; import "../../../index.ts";`,
  });
  expect(findForbidden(imports)).toEqual([
    "worker/more.ts → worker/features/chat/contract.ts",
    "worker/kernel/log.ts → worker/features/audit/contract.ts",
    "worker/kernel/home/alarm.ts → worker/features/rules/home/alarm-part.ts",
    "worker/kernel/home/alarm.ts → worker/home.ts",
    "worker/features/mcp/routes.ts → worker/features/rules/model-tools.ts",
    "worker/features/rules/home/feature.ts → worker/features/chat/home/feature.ts",
    "worker/features/rules/home/feature.ts → worker/index.ts",
  ]);
});

test("routes know the objects by api/ alone, and so does each object the other, in the kernel and in features", () => {
  const imports = importsOf({
    "worker/kernel/routes/turns.ts": `import "../http/auth.ts"; import "../api/stubs.ts"; import "../conversation/turns.ts";`,
    "worker/kernel/http/auth.ts": `import "../api/stubs.ts"; import "../routes/turns.ts"; import type { A } from "../home/home.ts";`,
    "worker/kernel/models/limits.ts": `import "../conversation/context.ts";`,
    "worker/kernel/home/alarm.ts": `import "./slot.ts"; import "../conversation/alarm.ts"; import "../http/auth.ts"; import "../log.ts";`,
    "worker/kernel/conversation/alarm.ts": `import "../home/alarm.ts"; import "../routes/turns.ts"; import "../api/stubs.ts";`,
    "worker/features/chat/routes/incoming.ts": `import "../conversation/live.ts"; import "../platforms/all.ts";`,
    "worker/features/rules/routes.ts": `import "../../kernel/home/context.ts"; import "../../kernel/http/app.ts";`,
    "worker/features/rules/home/feature.ts": `import "../conversation/offered.ts"; import "../routes.ts"; import "../model-tools.ts";`,
    "worker/features/chat/conversation/live.ts": `import "../home/rpc.ts"; import "../routes/incoming.ts"; import "../../../kernel/home/slot.ts";`,
    "worker/features/chat/platforms/slack.ts": `import "../routes/incoming.ts"; import "../../../kernel/http/auth.ts";`,
  });
  expect(findForbidden(imports)).toEqual([
    "worker/kernel/routes/turns.ts → worker/kernel/conversation/turns.ts",
    "worker/kernel/http/auth.ts → worker/kernel/routes/turns.ts",
    "worker/kernel/http/auth.ts → worker/kernel/home/home.ts",
    "worker/kernel/models/limits.ts → worker/kernel/conversation/context.ts",
    "worker/kernel/home/alarm.ts → worker/kernel/conversation/alarm.ts",
    "worker/kernel/home/alarm.ts → worker/kernel/http/auth.ts",
    "worker/kernel/conversation/alarm.ts → worker/kernel/home/alarm.ts",
    "worker/kernel/conversation/alarm.ts → worker/kernel/routes/turns.ts",
    "worker/features/chat/routes/incoming.ts → worker/features/chat/conversation/live.ts",
    "worker/features/rules/routes.ts → worker/kernel/home/context.ts",
    "worker/features/rules/home/feature.ts → worker/features/rules/conversation/offered.ts",
    "worker/features/rules/home/feature.ts → worker/features/rules/routes.ts",
    "worker/features/chat/conversation/live.ts → worker/features/chat/home/rpc.ts",
    "worker/features/chat/conversation/live.ts → worker/features/chat/routes/incoming.ts",
    "worker/features/chat/conversation/live.ts → worker/kernel/home/slot.ts",
    "worker/features/chat/platforms/slack.ts → worker/features/chat/routes/incoming.ts",
    "worker/features/chat/platforms/slack.ts → worker/kernel/http/auth.ts",
  ]);
});

test("api/ knows settings, and settings the environment alone", () => {
  const imports = importsOf({
    "worker/kernel/api/stubs.ts": `import "../env.ts"; import "../settings/chat.ts"; import type { Call } from "../home/calls/ledger.ts"; import "../log.ts";`,
    "worker/kernel/settings/chat.ts": `import "../env.ts"; import "../api/turns.ts";`,
    "worker/kernel/env.ts": `import type { Role } from "./settings/chat.ts";`,
  });
  expect(findForbidden(imports)).toEqual([
    "worker/kernel/api/stubs.ts → worker/kernel/home/calls/ledger.ts",
    "worker/kernel/api/stubs.ts → worker/kernel/log.ts",
    "worker/kernel/settings/chat.ts → worker/kernel/api/turns.ts",
    "worker/kernel/env.ts → worker/kernel/settings/chat.ts",
  ]);
});

test("only one source of the agent imports the optional tools, which import the agent", () => {
  const imports = importsOf({
    "pi-agent/toolbox/optional-tools.ts": `const tools = await import("@edgecall/tool-mcp/servers.ts");`,
    "pi-agent/toolbox/mcp.ts": `import type { McpServers } from "@edgecall/tool-mcp/servers.ts";`,
    "tool-mcp/servers.ts": `import type { ExecOps } from "@edgecall/pi-agent/env/environment.ts";`,
  });
  expect(findForbidden(imports)).toEqual(["pi-agent/toolbox/mcp.ts → tool-mcp/servers.ts"]);
});

test("the agent's kernel imports no feature, no feature another, and nothing what puts them together", () => {
  const imports = importsOf({
    "pi-agent/agent.ts": `import "./calls/inbox.ts"; import "./rules/a.ts"; import "./toolbox/all.ts";`,
    "pi-agent/toolbox/all.ts": `import "../tools/files/read.ts"; import "../skills/a.ts"; import "../agent.ts";`,
    "pi-agent/calls/inbox.ts": `import "../config/a.ts"; import type { B } from "../commands/a.ts";`,
    "pi-agent/env/ssh/ssh.ts": `import "../environment.ts"; import "../../toolbox/all.ts";`,
    "pi-agent/rules/a.ts": `import "../calls/inbox.ts"; import "./b.ts"; import "../evoclaw/a.ts";`,
    "pi-agent/service/a.ts": `import type { Agent } from "../agent.ts";`,
    "pi-agent/tools/web/a.ts": `import "../files/read.ts"; import "../../toolbox/all.ts";`,
  });
  expect(findForbidden(imports)).toEqual([
    "pi-agent/toolbox/all.ts → pi-agent/agent.ts",
    "pi-agent/calls/inbox.ts → pi-agent/commands/a.ts",
    "pi-agent/env/ssh/ssh.ts → pi-agent/toolbox/all.ts",
    "pi-agent/rules/a.ts → pi-agent/evoclaw/a.ts",
    "pi-agent/service/a.ts → pi-agent/agent.ts",
    "pi-agent/tools/web/a.ts → pi-agent/toolbox/all.ts",
  ]);
});

test("the console's page imports the client and nothing of the Worker, which does not import the client", () => {
  const imports = importsOf({
    "worker/features/console/page/api.ts": `import "@edgecall/client/client.ts"; import "./load.tsx";`,
    "worker/features/console/page/chat.tsx": `import type { A } from "../../../kernel/api/answers.ts"; import "../routes.ts";`,
    "worker/kernel/routes/a.ts": `import type { Routes } from "@edgecall/client/routes.ts";`,
  });
  expect(findForbidden(imports)).toEqual([
    "worker/features/console/page/chat.tsx → worker/kernel/api/answers.ts",
    "worker/features/console/page/chat.tsx → worker/features/console/routes.ts",
    "worker/kernel/routes/a.ts → client/routes.ts",
  ]);
});
