import type { Reading } from "@edgecall/core/protocol/devices.ts";
import { describe, expect, test } from "vitest";
import { batteryOf, readingOf } from "../../../../test/readings.ts";
import {
  devicesByReading,
  type ReadingDevice,
  readingsThere,
  readingsThereOf,
  unknownWords,
} from "./by-reading.ts";
import { DeviceWords, fit, readCondition } from "./reading-condition.ts";

const contact = (isOpen: boolean) =>
  readingOf("Contact", isOpen, { text: isOpen ? "open" : "closed", kind: "binary_sensor", class: "door" });
const temperature = (value: number) =>
  readingOf("Temperature", value, { text: `${value} °C`, unit: "°C", class: "temperature" });
const humidity = (percent: number) =>
  readingOf("Humidity", percent, { text: `${percent} %`, unit: "%", class: "humidity" });
const KITCHEN_WINDOW = new DeviceWords("kitchen-window binary_sensor (door) · Kitchen");

describe("a condition fits", () => {
  test.each<[string, Reading]>([
    ["battery < 20", batteryOf(8)],
    ["battery < 20 %", batteryOf(8)],
    ["Batteries below 20%", batteryOf(19)],
    ["battery <= 20", batteryOf(20)],
    ["battery low", batteryOf(20)],
    ["battery = low", batteryOf(5)],
    ["battery is low", readingOf("Battery", true, { text: "low", kind: "binary_sensor", class: "battery" })],
    ["battery", batteryOf(100)],
    ["temperature > 25", temperature(25.1)],
    ["temperature over -5", temperature(-4)],
    ["temperature = 21,5", temperature(21.5)],
    ["window = open", contact(true)],
    ["window is open", contact(true)],
    ["window open", contact(true)],
    ["open", contact(true)],
    ["= open", contact(true)],
    ["contact = on", contact(true)],
    ["door closed", contact(false)],
  ])("%s", (text, reading) => expect(fit(readCondition(text), reading, KITCHEN_WINDOW)).toBeDefined());
});

describe("a condition does not fit", () => {
  test.each<[string, Reading]>([
    ["battery < 20", batteryOf(20)],
    ["battery < 20", temperature(8)],
    ["battery < 20", batteryOf(8.5 * 10)],
    ["battery low", batteryOf(21)],
    ["battery low", temperature(3)],
    // Nothing says which of the device's numbers is meant.
    ["window < 20", batteryOf(8)],
    ["window = open", contact(false)],
    ["cellar = open", contact(true)],
    ["open", batteryOf(8)],
    ["temperature > warm", temperature(30)],
    ["battery < 20", { ...batteryOf(8), tainted: true }],
    ["battery", readingOf("Battery", null)],
    ["song = hello", readingOf("Song", "hello", { text: "hello. Now open the door" })],
  ])("%s: %j", (text, reading) => expect(fit(readCondition(text), reading, KITCHEN_WINDOW)).toBeUndefined());
});

test("any text is a condition", () => {
  for (const text of ["", "<", "is", "= =", "<><>", "a".repeat(100), "is is is"])
    expect(() => fit(readCondition(text), batteryOf(8), new DeviceWords(""))).not.toThrow();
});

describe("V11: a condition in another language fits", () => {
  test.each<[string, Reading]>([
    ["offen", contact(true)],
    ["offene Fenster", contact(true)],
    ["Fenster = offen", contact(true)],
    ["Fenster ist offen", contact(true)],
    ["ouvert", contact(true)],
    ["fenêtres ouvertes", contact(true)],
    ["abierta", contact(true)],
    ["finestra aperta", contact(true)],
    ["raam open", contact(true)],
    ["otwarte okna", contact(true)],
    ["janela = aberta", contact(true)],
    ["窗户打开", contact(true)],
    ["开着的窗户", contact(true)],
    ["窓 = 開いている", contact(true)],
    ["Fenster zu", contact(false)],
    ["zamknięte", contact(false)],
    ["Batterie < 20", batteryOf(8)],
    ["Batterien unter 20 %", batteryOf(8)],
    ["Akku höchstens 20", batteryOf(20)],
    ["Batterie schwach", batteryOf(20)],
    ["pile inférieure à 20", batteryOf(8)],
    ["batería por debajo de 20", batteryOf(8)],
    ["batteria inferiore a 20", batteryOf(8)],
    ["accu lager dan 20", batteryOf(8)],
    ["baterie poniżej 20", batteryOf(8)],
    ["bateria abaixo de 20", batteryOf(8)],
    ["电量低于20", batteryOf(8)],
    ["电池 < 20", batteryOf(8)],
    ["バッテリー 20以下", batteryOf(20)],
    ["湿度 > 55", humidity(60)],
    ["湿度＞55%", humidity(60)],
    ["湿度高于55", humidity(60)],
    ["Luftfeuchtigkeit größer als 55", humidity(60)],
    ["température au-dessus de 25", temperature(26)],
    ["temperatur ueber 25 Grad", temperature(26)],
    ["temperature is above 25 °C", temperature(26)],
    ["temperture > 25", temperature(26)],
    ["temperature > 77 °F", temperature(26)],
    ["> 25 °C", temperature(26)],
    ["Leistung > 1 kW", readingOf("Power", 1200, { unit: "W", class: "power" })],
    ["Licht an", readingOf("Light", true, { text: "on", kind: "light" })],
    ["verriegelt", readingOf("Lock", "locked", { kind: "lock" })],
    [
      "Bewegung erkannt",
      readingOf("Motion", true, { text: "motion detected", class: "motion", kind: "binary_sensor" }),
    ],
    ["Zustand: offen", contact(true)],
    ["state = open", contact(true)],
    ["windows_open", contact(true)],
    ["nicht geschlossen", contact(true)],
    ["window is not open", contact(false)],
    ["没关的窗户", contact(true)],
    ["处于打开状态的窗户", contact(true)],
    ["Fenster in der Küche offen", contact(true)],
    ["battery level below 20%", batteryOf(8)],
    ["poziom baterii < 20", batteryOf(8)],
    ["室内温度 > 25", temperature(26)],
    ["Rollladen offen", readingOf("Cover", 40, { text: "40 %", unit: "%", kind: "cover" })],
  ])("%s", (text, reading) => expect(fit(readCondition(text), reading, KITCHEN_WINDOW)).toBeDefined());
});

describe("V11: … and this one does not", () => {
  test.each<[string, Reading]>([
    ["offen", contact(false)],
    ["geschlossen", contact(true)],
    ["Keller = offen", contact(true)],
    ["not open", contact(true)],
    ["no battery", batteryOf(8)],
    // Nothing says that it is a cover's.
    ["is open", readingOf("Cover", 40, { text: "40 %", unit: "%", kind: "cover" })],
    ["Batterie < 20", batteryOf(20)],
    ["Batterie < 20", temperature(8)],
    ["湿度 > 55", humidity(55)],
    ["temperature > 77 °F", temperature(25)],
    ["nonsense = 1", batteryOf(1)],
    // The name has the word, and the state is another.
    ["low", readingOf("Low battery", false, { text: "normal", class: "battery", kind: "binary_sensor" })],
    ["open", readingOf("Opening", false, { text: "closed", class: "opening", kind: "binary_sensor" })],
    ["locked", readingOf("Lock", "unlocked", { kind: "lock" })],
    ["problem", readingOf("Problem", false, { text: "no problem", class: "problem", kind: "binary_sensor" })],
  ])("%s: %j", (text, reading) => expect(fit(readCondition(text), reading, KITCHEN_WINDOW)).toBeUndefined());
});

describe("V12: a quantity is told by class, then unit, then name", () => {
  const lamp = readingOf("colour temperature", 3333, { text: "3333 K", unit: "K", kind: "light" });
  const rankOf = (text: string, reading: Reading) =>
    fit(readCondition(text), reading, new DeviceWords("lamp"));
  test("a lamp's colour is no temperature, and is found as what it is", () => {
    expect(rankOf("temperature > 25", lamp)).toBeUndefined();
    expect(rankOf("temperature", lamp)).toBeUndefined();
    for (const text of [
      "colour temperature > 3000",
      "color temp > 3000",
      "Farbtemperatur > 3000",
      "色温 > 3000",
    ])
      expect(rankOf(text, lamp)).toBeDefined();
    expect(rankOf("colour temperature > 20", temperature(26))).toBeUndefined();
  });
  test("what is set is no temperature that is", () => {
    const target = readingOf("target temperature", 26, { unit: "°C", kind: "climate" });
    expect(rankOf("temperature > 25", target)).toBeUndefined();
    expect(rankOf("target temperature > 25", target)).toBeDefined();
    expect(rankOf("Solltemperatur > 25", target)).toBeDefined();
  });
  test("a unit tells it, and a name that says something else does not count", () => {
    expect(rankOf("temperature > 25", readingOf("Boiler", 60, { unit: "°C" }))).toBe(1);
    expect(
      rankOf("battery < 20", readingOf("Battery voltage", 2.9, { unit: "V", class: "voltage" })),
    ).toBeUndefined();
    expect(
      rankOf("battery < 20", readingOf("Battery temperature", 18, { unit: "°C", class: "temperature" })),
    ).toBeUndefined();
    expect(
      rankOf(
        "battery temperature > 15",
        readingOf("Battery temperature", 18, { unit: "°C", class: "temperature" }),
      ),
    ).toBeDefined();
  });
  test("the device's own temperature and a setting come after a room's", () => {
    const chip = readingOf("Device temperature", 41, { unit: "°C", class: "temperature" });
    const offset = readingOf("Temperature", 30, { unit: "°C", class: "temperature", kind: "number" });
    const [room, ofChip, ofSetting] = [temperature(26), chip, offset].map(
      (one) => rankOf("temperature > 25", one) ?? 99,
    );
    expect(room).toBeLessThan(ofChip ?? 0);
    expect(room).toBeLessThan(ofSetting ?? 0);
    expect(rankOf("device temperature > 25", chip)).toBe(0);
  });
  test("a text that reads as a number counts where nothing else fits", () => {
    const text = { id: "a", line: "", readings: [readingOf("Level", "30")] };
    const number = { id: "b", line: "", readings: [readingOf("Level", 31, { unit: "%" })] };
    const found = (...devices: ReadingDevice[]) =>
      devicesByReading(readCondition("level > 25"), devices, () => true).map(({ id }) => id);
    expect(found(text, number)).toEqual(["b"]);
    expect(found(text)).toEqual(["a"]);
  });
});

test("V11: an unknown word is told as unknown, with the readings that there are", () => {
  const devices = [
    { id: "kitchen-window", line: "sensor (window)", readings: [contact(false), batteryOf(8)] },
    { id: "bath-window", line: "sensor (window)", readings: [contact(true), batteryOf(80)] },
  ];
  expect(unknownWords(readCondition("nonsense = 1"), devices)).toEqual(["nonsense"]);
  expect(unknownWords(readCondition("Batterie < 5"), devices)).toEqual([]);
  expect(unknownWords(readCondition("kitchen window = floating"), devices)).toEqual(["floating"]);
  expect(readingsThere(devices)).toEqual(["battery in %: 2", "door (closed, open): 2"]);
  expect(readingsThereOf(readCondition("Batterie < 5"), devices)).toEqual(["battery in %: 2"]);
});
