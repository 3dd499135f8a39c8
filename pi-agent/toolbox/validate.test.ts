/** The runner's strict parsing of arguments, with the cases of PicoClaw's validator. */
import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, textResult } from "@edgecall/core/tools/contract.ts";
import { expect, test } from "vitest";
import { callTool } from "../testing/call.ts";
import { casesOf } from "../testing/cases.ts";

type Schema = {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean;
};

/** The schema of a case in the form of our tools. */
function zodOf({ type, properties, required = [], additionalProperties }: Schema): z.ZodMiniType {
  if (type === "string") return z.string();
  if (type === "integer") return z.int();
  const shape = Object.fromEntries(
    Object.entries(properties ?? {}).map(([name, schema]) => [
      name,
      required.includes(name) ? zodOf(schema) : z.optional(zodOf(schema)),
    ]),
  );
  const open = additionalProperties ?? properties === undefined;
  return open ? z.looseObject(shape) : z.strictObject(shape);
}

for (const one of casesOf("validate")) {
  test(`${one.id}: ${one.title}`, async () => {
    let got: unknown;
    const tool = defineTool({
      name: "probe",
      description: "Takes what it is given.",
      input: zodOf((one.given?.schema ?? {}) as Schema),
      effect: "read",
      idempotent: true,
      timeoutMs: 1_000,
      maxTimeoutMs: 1_000,
      async execute(input) {
        got = input;
        return textResult("ok");
      },
    });
    // A call without arguments arrives as an empty object, because of the command's schema.
    const args = (one.input.args ?? {}) as Record<string, unknown>;
    const { code, text } = await callTool(tool, args);
    const oneOf = (one.expect.oneOf ?? [one.expect]) as Array<{
      ok?: boolean;
      error?: string;
      args?: unknown;
    }>;
    expect(
      oneOf.map(({ error }) => error),
      text,
    ).toContain(code);
    const taken = oneOf.find(({ error }) => error === code);
    if (taken?.args !== undefined) expect(got).toEqual(taken.args);
    for (const part of one.expect.textIncludes ?? []) expect(text).toContain(part);
  });
}
