/** The paired agent of a house. Its one action writes a line into a file, so that what it does is counted at the agent. */
import { existsSync, mkdirSync, readFileSync, watch, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify as toToml } from "smol-toml";
import { enrol } from "../../../local/enrol.ts";
import { put } from "../../../pi-agent/testing/skill-folder.ts";
import { programFile } from "../../e2e/program.ts";
import { TOKENS } from "../../tokens.ts";
import { Link } from "../link.ts";
import type { Program } from "../program.ts";

export const AGENT = "shed";
/** The action of this agent. */
export const MARK = "mark";

export type ActingAgent = {
  program: Program;
  /** Its line to the broker. */
  link: Link;
  /** Takes the marks that were not seen yet. */
  read(): void;
  start(gatewayUrl: string): Promise<void>;
  stop(): Promise<void>;
};

const SKILL = `[[tools]]
name = "${MARK}"
description = "Writes a mark"
permissions = ["device"]
[tools.parameters]
required = ["id"]
[tools.parameters.properties.id]
type = "string"
`;

/** @param options.marked called with each line: epoch ms, and what the action was told */
export async function makeAgent(options: {
  dir: string;
  brokerPort: number;
  random: () => number;
  program: (name: string, command: string[], env: Record<string, string>) => Program;
  marked: (at: number, id: string) => void;
}): Promise<ActingAgent> {
  const { brokerPort, random } = options;
  const dir = join(options.dir, AGENT);
  const [state, workspace, skills, marks] = ["state", "workspace", "skills", "marks"].map((name) =>
    join(dir, name),
  ) as [string, string, string, string];
  for (const folder of [state, workspace, marks]) mkdirSync(folder, { recursive: true });
  const file = join(marks, "all");
  // The work is done a moment before the agent knows it.
  const program = `#!/bin/sh\necho "$(date +%s%3N) $2" >>'${file}'\nsleep 0.1\n`;
  put(skills, { "marks/skill.toml": SKILL, [`marks/bin/dt-${MARK}`]: program });
  const link = await Link.open({ to: brokerPort, mqtt: true, random });
  const config = join(dir, "agent.toml");
  writeFileSync(
    config,
    toToml({
      agent_id: AGENT,
      state_dir: state,
      mqtt: { url: `mqtt://127.0.0.1:${link.port}` },
      tools: { workspace, skills_path: skills, sandboxing: "none" },
      // A skill's tool asks each time otherwise, and no person is present to approve.
      policy: { [MARK]: "allow" },
    }),
  );
  let seen = 0;
  const read = () => {
    const text = existsSync(file) ? readFileSync(file, "utf8") : "";
    const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
    for (; seen < lines.length - 1; seen += 1) {
      const [at = "", id = ""] = (lines[seen] ?? "").split(" ");
      options.marked(Number(at), id);
    }
  };
  const watcher = watch(marks, read);
  const agent = options.program(AGENT, [programFile("pi-agent/main.ts"), "--config", config], {});
  return {
    program: agent,
    link,
    read,
    async start(url) {
      await enrol({ url, token: TOKENS.owner, agentId: AGENT, stateDir: state });
      await agent.start();
    },
    async stop() {
      watcher.close();
      await agent.kill("the end");
      await link.close();
    },
  };
}
