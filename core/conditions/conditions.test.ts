import { expect, test } from "vitest";
import { Condition, ConditionList } from "../protocol/conditions.ts";
import { checkJson, z } from "../protocol/parse.ts";
import { conditionOf, describeCondition, firstProblem } from "./conditions.ts";

test("O4: a condition has one text and one cure in every program that shows it, and goes over the wire without either", () => {
  const told = conditionOf("disk_full", { path: "/var/lib/edgecall-agent", error: "ENOSPC" });
  const wire = checkJson(Condition, JSON.stringify(told));
  expect(wire).toEqual({ ok: true, value: told });
  expect(describeCondition(told, "pi")).toEqual({
    code: "disk_full",
    severity: "wrong",
    text: "the disk of /var/lib/edgecall-agent is full (ENOSPC), so it refuses everything but reads",
    cure: "on the device: df -h /var/lib/edgecall-agent, then delete what is not needed; it notices within a minute",
  });
});

test("O4: what a stranger puts in is cut, on one line, and changes no other words", () => {
  const hostile = {
    code: "disk_full",
    params: { path: `/a\n\u001b[31mok${"x".repeat(300)}`, agent: "other" },
  };
  expect(checkJson(Condition, JSON.stringify(hostile)).ok).toBe(false);
  const { text, cure } = describeCondition({ ...hostile, params: { path: "/a\n\u001b[31mok" } }, "pi");
  expect(text).not.toMatch(/\p{Cc}/u);
  expect(cure).not.toMatch(/\p{Cc}/u);
  const named = { code: "not_verified", params: { reason: "r", agent: "other; rm -rf /" } };
  expect(describeCondition(named, "pi").cure).toContain("--agent pi");
});

test("O4: a code of a newer program is shown as that, and a wrong list hides nothing else", () => {
  expect(describeCondition({ code: "from_the_future" })).toMatchObject({
    severity: "notice",
    text: expect.stringContaining("'from_the_future'"),
  });
  expect(describeCondition({ code: "constructor" }).severity).toBe("notice");
  const Advert = z.object({ line: z.string(), conditions: ConditionList });
  expect(checkJson(Advert, '{"line":"x","conditions":"many"}')).toEqual({
    ok: true,
    value: { line: "x", conditions: undefined },
  });
});

test("the first one that is wrong stands for all in a list", () => {
  const shown = [
    conditionOf("offline", { reason: "last will" }),
    conditionOf("disk_read_only", { path: "/" }),
  ];
  expect(firstProblem(shown.map((one) => describeCondition(one)))).toContain("read-only");
  expect(firstProblem([])).toBeUndefined();
});
