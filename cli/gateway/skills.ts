/** The doctor's findings about a device's skills: those that it offers, and the parts that it leaves out. */
import { z } from "@edgecall/core/protocol/parse.ts";
import { type Finding, fine, wrong } from "../service/checks/findings.ts";
import type { Gateway } from "./gateway.ts";

const LIST_WITHIN_MS = 15_000;

const Skills = z.looseObject({
  payload: z.looseObject({
    skills: z.array(z.looseObject({ name: z.string(), enabled: z.boolean(), problems: z.array(z.string()) })),
  }),
});

/** @returns none where the agent has no skills, is of another kind, or may not be asked with this token */
export async function findSkills(gateway: Gateway, agent: string): Promise<Finding[]> {
  const link = "skill";
  const { skills } = await gateway
    .json(Skills, "POST /v1/agents/{agent}/commands", {
      path: { agent },
      body: { command: "skill", payload: { action: "list" } },
      withinMs: LIST_WITHIN_MS,
    })
    .then(
      ({ payload }) => payload,
      () => ({ skills: [] }),
    );
  const offered = skills.filter(({ enabled }) => enabled).map(({ name }) => name);
  const problems = skills.flatMap(({ name, problems }) => problems.map((why) => `${name}: ${why}`));
  return [
    ...(offered.length > 0 ? [fine(link, `${agent} offers ${offered.join(", ")}`)] : []),
    ...problems.map((says) => wrong(link, says, "docs/guides/skill.md has each field of skill.toml")),
  ];
}
