import { describe, expect, it } from "vitest";
import { type CostLine, readCostLine } from "./lines.ts";
import { idleMonth, objectRequests, usdPerMillion } from "./prices.ts";
import { alarmStands, awakeMs, perTurn, tally } from "./tally.ts";

const request = (of: "Home" | "Conversation", via: "rpc" | "message" | "alarm", from: number, to: number) =>
  ({ cost: "request", of, via, name: "any", from, to }) satisfies CostLine;
const rows = (read: number, written: number): CostLine => ({
  cost: "rows",
  of: "Home",
  read,
  written,
});
const alarm = (of: "Home" | "Conversation", did: "set" | "runs"): CostLine => ({ cost: "alarm", of, did });

describe("a tally", () => {
  it("counts a set alarm as a row and its run as a request", () => {
    const sum = tally([
      { cost: "worker" },
      rows(3, 1),
      alarm("Home", "set"),
      alarm("Home", "runs"),
      request("Home", "alarm", 0, 1),
    ]);
    expect(sum).toMatchObject({ workerRequests: 1, rowsRead: 3, rowsWritten: 2, alarmsSet: 1, alarms: 1 });
  });
  it("is divided by the number of turns", () => expect(perTurn(tally([rows(10, 4)]), 4).rowsWritten).toBe(1));
});

describe("the time awake", () => {
  const lines: CostLine[] = [
    request("Home", "rpc", 0, 10),
    request("Home", "rpc", 2, 5),
    request("Home", "rpc", 8, 20),
    { cost: "work", of: "Home", from: 100, to: 130 },
    request("Conversation", "rpc", 0, 7),
  ];
  it("is the union for each object, and the sum of both", () => expect(awakeMs(lines)).toBe(20 + 30 + 7));
  it("is longer in the worst case, by a tail that may overlap later work", () =>
    expect(awakeMs(lines, 90)).toBe(220 + 97));
});

describe("an alarm", () => {
  it("is pending from when it is set until it begins to run", () => {
    expect(alarmStands([])).toBe(false);
    expect(alarmStands([alarm("Home", "set")])).toBe(true);
    expect(alarmStands([alarm("Home", "set"), alarm("Home", "runs")])).toBe(false);
    expect(alarmStands([alarm("Home", "set"), alarm("Conversation", "set"), alarm("Home", "runs")])).toBe(
      true,
    );
  });
  it("may be set again while it runs", () =>
    expect(alarmStands([alarm("Home", "set"), alarm("Home", "runs"), alarm("Home", "set")])).toBe(true));
});

describe("the price", () => {
  it("counts 20 messages as a request", () =>
    expect(objectRequests(tally([request("Home", "rpc", 0, 1), request("Home", "message", 1, 2)]))).toBe(
      1.05,
    ));
  it("of a million turns is the sum of its parts", () => {
    const usd = usdPerMillion(tally([{ cost: "worker" }, request("Home", "rpc", 0, 1), rows(2, 5)]), 1_000);
    expect(usd.workerRequests).toBeCloseTo(0.3);
    expect(usd.objectRequests).toBeCloseTo(0.15);
    expect(usd.rowsRead).toBeCloseTo(0.002);
    expect(usd.rowsWritten).toBeCloseTo(5);
    expect(usd.duration).toBeCloseTo(1.6);
    expect(usd.total).toBeCloseTo(7.052);
  });
  it("of an idle month is the storage, and a ping each 7 s if pings count", () => {
    const usd = idleMonth(1_000_000_000);
    expect(usd).toMatchObject({ pings: 370_286, stored: 0.2 });
    expect(usd.ifPingsAreMessages).toBeCloseTo(0.2 + 0.00278);
  });
});

describe("a line", () => {
  it("of the Worker itself is ignored", () => {
    expect(readCostLine('{"event":"bridge.connected"}')).toBeUndefined();
    expect(readCostLine("{ event: 'x' }")).toBeUndefined();
    expect(readCostLine('{"cost":"worker"}')).toEqual({ cost: "worker" });
  });
});
