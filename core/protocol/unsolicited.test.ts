import { expect, test } from "vitest";
import { readReport } from "./mqtt.ts";
import { unsolicitedText } from "./unsolicited.ts";

function textOf(report: object): string | undefined {
  const read = readReport(JSON.stringify(report));
  return read.ok ? unsolicitedText(read.value) : read.error;
}
const report = (report_type: string, payload: object) => ({
  agent_id: "evo",
  agent_type: "monitor",
  report_type,
  payload,
  timestamp: 1,
});

test.each<[what: string, report: object, text: string | undefined]>([
  [
    "a skill's alert (price_monitor.rs)",
    report("skill_report", {
      skill: "price_monitor",
      report_type: "alert",
      payload: { alert: "price_target", symbol: "BTC", message: "BTC hit above target 50000.00" },
    }),
    "BTC hit above target 50000.00",
  ],
  ["a message of its own", { agent_id: "evo", content: "The water is high" }, "The water is high"],
  ["a report with a text", report("alert", { text: "smoke" }), "smoke"],
  [
    "a skill's figures",
    report("skill_report", {
      skill: "price_monitor",
      report_type: "metric",
      payload: { prices: { BTC: 1 } },
    }),
    undefined,
  ],
  ["blanks", report("alert", { message: " \n" }), undefined],
  ["a number", report("alert", { message: 5, payload: [] }), undefined],
  ["its heartbeat", report("heartbeat", { message: "here" }), undefined],
  ["an answer", report("result", { content: "19 degrees", request_id: "r1" }), undefined],
  ["an answer without its request", report("result", { content: "19 degrees" }), undefined],
  ["a bare answer", { request_id: "r1", content: "19 degrees" }, undefined],
])("%s", (_, said, text) => {
  expect(textOf(said)).toBe(text);
});
