import { expect, test } from "vitest";
import { DEVICES } from "./house.ts";
import { HouseModel } from "./model.ts";

const HOUR_S = 3_600;

/** All values and reports of a house, second by second. */
function played(seed: number, seconds: number): string[] {
  const house = new HouseModel(seed);
  return Array.from({ length: seconds }, () => {
    const reporting = house.step();
    return JSON.stringify([reporting, DEVICES.map(({ name }) => house.get(name))]);
  });
}

function after(house: HouseModel, seconds: number): HouseModel {
  for (let second = 0; second < seconds; second += 1) house.step();
  return house;
}

test("the same seed gives the same house, and another one another", () => {
  expect(played(5, 900)).toEqual(played(5, 900));
  expect(played(5, 900)).not.toEqual(played(6, 900));
});

test("a command changes what follows, and the rest stays as it is", () => {
  const house = new HouseModel(5);
  const other = new HouseModel(5);
  house.set("Reading lamp", { on: true });
  after(house, 60);
  after(other, 60);
  expect(house.get("Reading lamp").on).toBe(true);
  expect(other.get("Reading lamp").on).toBe(false);
  expect(house.get("Garden thermometer")).toEqual(other.get("Garden thermometer"));
});

test.each([1, 2, 3, 4, 5])("seed %i: all that a first look needs happens in two minutes", (seed) => {
  const house = new HouseModel(seed);
  const seen = new Map<string, number>();
  const note = (what: string, is: boolean | undefined) => {
    if (is && !seen.has(what)) seen.set(what, house.second);
  };
  const wasRunning = (house.get("Washing machine").power ?? 0) > 100;
  while (house.second < 120) {
    house.step();
    note("freezer", (house.get("Freezer").temperature ?? 0) > -15);
    note("washed", (house.get("Washing machine").power ?? 0) < 5);
    note("gate", house.get("Gate motion").isOccupied);
    note("hall", house.get("Hall motion").isOccupied);
    note("window", house.get("Kitchen window").open);
  }
  expect(wasRunning).toBe(true);
  expect([...seen.keys()].sort()).toEqual(["freezer", "gate", "hall", "washed", "window"]);
});

test("the freezer stays above -15 °C for longer than a watch waits, and is cold again afterwards", () => {
  const house = new HouseModel(1);
  const warm: number[] = [];
  while (house.second < 600) {
    house.step();
    if ((house.get("Freezer").temperature ?? 0) > -15) warm.push(house.second);
  }
  expect(warm.length).toBeGreaterThan(120);
  expect(warm[0]).toBeLessThan(75);
  expect(house.get("Freezer").temperature).toBeLessThan(-18);
});

test("a radiator that is set higher heats its room, and one that is off does not", () => {
  const warm = new HouseModel(1);
  const cold = new HouseModel(1);
  warm.set("Bedroom heating", { setpoint: 23 });
  cold.set("Bedroom heating", { mode: "off" });
  expect(warm.step()).toContain("Bedroom heating");
  cold.step();
  expect(warm.get("Bedroom heating").isHeating).toBe(true);
  expect(cold.get("Bedroom heating").isHeating).toBe(false);
  // People open the same windows in both.
  after(warm, HOUR_S);
  after(cold, HOUR_S);
  const [warmer = 0, colder = 0] = [warm, cold].map((house) => house.get("Bedroom thermometer").temperature);
  expect(warmer).toBeGreaterThan(colder + 1);
});

test("temperatures of a day stay those of a house", () => {
  const house = new HouseModel(2);
  for (let hour = 0; hour < 24; hour += 1) {
    after(house, HOUR_S);
    for (const { name, room } of DEVICES) {
      const { temperature } = house.get(name);
      if (temperature === undefined || name === "Freezer") continue;
      expect(temperature, `${name} after ${hour + 1} h`).toBeGreaterThan(room === "Garden" ? 4 : 6);
      expect(temperature, `${name} after ${hour + 1} h`).toBeLessThan(26);
    }
  }
});

test("a blind moves to where it is told, reports on its way, and stops", () => {
  const house = new HouseModel(1);
  house.set("Blinds", { target: 40 });
  const reported: number[] = [];
  for (let second = 0; second < 14; second += 1)
    if (house.step().includes("Blinds")) reported.push(house.get("Blinds").position ?? -1);
  expect(reported.slice(0, 3)).toEqual([95, 90, 85]);
  expect(house.get("Blinds").position).toBe(40);
});

test("a plug that is off takes no power, and the washing machine goes on with its program when it is on again", () => {
  const house = new HouseModel(1);
  house.happen("washing starts");
  house.step();
  expect(house.get("Washing machine").power).toBe(2_050);
  house.set("Washing machine", { on: false });
  expect(house.step()).toContain("Washing machine");
  expect(house.get("Washing machine").power).toBe(0);
  house.set("Washing machine", { on: true });
  house.step();
  expect(house.get("Washing machine").power).toBe(2_050);
  house.happen("washing ends");
  house.step();
  expect(house.get("Washing machine").power).toBeLessThan(5);
});

test("somebody who comes home unlocks the door, opens it and locks it again", () => {
  const house = new HouseModel(1);
  house.happen("someone comes");
  expect(house.get("Front door").isLocked).toBe(false);
  after(house, 4);
  expect(house.get("Door contact").open).toBe(true);
  expect(house.get("Hall motion").isOccupied).toBe(true);
  after(house, 10);
  expect(house.get("Door contact").open).toBe(false);
  expect(house.get("Front door").isLocked).toBe(true);
});

test("water leaks for a minute; all leave, and the door swings open when they have been away for more than ten", () => {
  const house = new HouseModel(1);
  const seen: string[] = [];
  const note = (what: string, is: boolean | undefined) => {
    if (is && !seen.includes(what)) seen.push(what);
  };
  let awayFor = 0;
  let openFor = 0;
  while (house.second < 2_600) {
    house.step();
    awayFor = house.get("Phone").isHome ? 0 : awayFor + 1;
    openFor = house.get("Door contact").open ? openFor + 1 : 0;
    note("leak", house.get("Leak sensor").isWet);
    note("away", awayFor > 0);
    note("open while away for 10 min", awayFor > 600 && openFor > 300);
    note("nobody moves", awayFor > 600 && !house.get("Hall motion").isOccupied);
    note("back", seen.includes("away") && awayFor === 0);
  }
  expect(seen).toEqual(["leak", "away", "nobody moves", "open while away for 10 min", "back"]);
  expect(house.get("Leak sensor").isWet).toBe(false);
});

test("a device that measures reports each 15 seconds, and a window at once", () => {
  const house = new HouseModel(1);
  house.step();
  let reports = 0;
  for (let second = 0; second < 60; second += 1)
    if (house.step().includes("Office thermometer")) reports += 1;
  expect(reports).toBe(4);
  house.set("Living room window", { open: !house.get("Living room window").open });
  expect(house.step()).toContain("Living room window");
});

test("a device that is not there is named", () => {
  expect(() => new HouseModel(1).get("Sauna")).toThrow("the demo home has no device named Sauna");
});
