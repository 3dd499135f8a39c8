/** The tables of docs/reference/settings.md, of the tables that the programs read. */
import { BRIDGE_VARIABLES } from "@edgecall/bridge/variables.ts";
import { GATEWAY_VARIABLES, VARIABLES, type Variable } from "@edgecall/core/protocol/gateway-variables.ts";
import { type About, GATEWAY_SECTIONS } from "./about-gateway.ts";
import { COMMAND_LINE, type Row, STACK } from "./about-stack.ts";
import { code, table } from "./regions.ts";

export function settingsTables(): Record<string, string> {
  const named = Object.values(GATEWAY_SECTIONS).flatMap((section) => Object.keys(section));
  const missing = GATEWAY_VARIABLES.filter((name) => named.filter((one) => one === name).length !== 1);
  if (missing.length > 0)
    throw new Error(`about-gateway.ts: once each, in one section: ${missing.join(", ")}`);
  return {
    ...Object.fromEntries(
      Object.entries(GATEWAY_SECTIONS).map(([title, section]) => [regionOf(title), gatewayTable(section)]),
    ),
    bridge: bridgeTable(),
    "command-line": plainTable(COMMAND_LINE),
    stack: plainTable(STACK),
  };
}

const regionOf = (title: string) => `gateway-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
const HEAD = ["variable", "default", "values", ""];

function gatewayTable(section: Readonly<Record<string, About | undefined>>): string {
  const rows = Object.entries(section).map(([name, about]) => {
    // SAFETY: a section's keys are names of variables.
    const variable: Variable = VARIABLES[name as keyof typeof VARIABLES];
    const standard =
      about?.standard ?? (variable.default === undefined ? "–" : code(String(variable.default)));
    const design = about?.design ? ` In the designs: ${about.design}.` : "";
    return [code(name), standard, valuesOf(variable), `${about?.about ?? ""}${design}`];
  });
  return table(HEAD, rows);
}

function valuesOf(variable: Variable): string {
  if (variable.kind === "choice") return variable.values.map(code).join(", ");
  if (variable.kind === "text") return variable.secret ? "secret" : "";
  return `${variable.kind === "whole" ? "" : "number, "}${variable.min} to ${variable.max}`;
}

function bridgeTable(): string {
  const rows = Object.entries(BRIDGE_VARIABLES).map(([name, entry]) => [
    code(name),
    "standard" in entry ? entry.standard : "default" in entry ? code(entry.default) : "–",
    "secret" in entry ? `secret; or a file, ${code(`${name}_FILE`)}` : "",
    entry.about,
  ]);
  return table(HEAD, rows);
}

const plainTable = (rows: Readonly<Record<string, Row>>) =>
  table(
    ["variable", "default", ""],
    Object.entries(rows).map(([name, { standard, about }]) => [code(name), standard, about]),
  );
