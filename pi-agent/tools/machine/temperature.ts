import { z } from "@edgecall/core/protocol/parse.ts";
import { defineTool, faultResult, type Tool, textResult } from "@edgecall/core/tools/contract.ts";
import { DEVICE_READ } from "../reads.ts";
import { listKernel, readKernel, readKernelNumber } from "./kernel-files.ts";

type Reading = { name: string; celsius: number };

const THERMAL = "/sys/class/thermal";
const HWMON = "/sys/class/hwmon";
/** External sensors: 1-wire (DS18B20), and chips on I2C or SPI with a kernel driver. */
const ONE_WIRE = "/sys/bus/w1/devices";
const IIO = "/sys/bus/iio/devices";
/** A value outside this range is not a reading: some drivers report 0 K or 255 °C without a chip. */
const PLAUSIBLE = { from: -60, to: 200 };

export function temperature({ root }: { root: string }): Tool {
  return defineTool({
    name: "temperature",
    description:
      "Read this device's temperature sensors: how warm or hot the CPU, the board, its chips and connected sensors (1-wire, I2C) are right now, in degrees Celsius (°C).",
    input: z.strictObject({}),
    ...DEVICE_READ,
    async execute() {
      const readings = await readAll(root);
      if (readings.length === 0) {
        return faultResult("unavailable", {
          text: `Error: This device has no temperature sensor that can be read: looked for ${THERMAL}/thermal_zone*/temp, ${HWMON}/hwmon*/temp*_input, ${ONE_WIRE}/*/temperature and ${IIO}/*/in_temp_input.`,
          advice: "Tell the user that the temperature is not known.",
        });
      }
      const lines = readings.map(({ name, celsius }) => `${name}: ${celsius.toFixed(1)} °C`);
      return textResult(lines.join("\n"), { sensors: readings });
    },
  });
}

/** Returns why the tool is not offered; undefined when a sensor can be read. */
export async function temperatureMissing({ root }: { root: string }): Promise<string | undefined> {
  return (await readAll(root)).length > 0
    ? undefined
    : "no temperature sensor that can be read (a virtual machine has none)";
}

async function readAll(root: string): Promise<Reading[]> {
  const zones = await thermalZones(root);
  const known = new Set(zones.map(({ name }) => nameKey(name)));
  const chips = (await hwmonChips(root)).filter(({ chip }) => !known.has(nameKey(chip)));
  const wired = [...(await oneWire(root)), ...(await iioDevices(root))];
  return [...zones, ...chips.map(({ reading }) => reading), ...wired];
}

async function thermalZones(root: string): Promise<Reading[]> {
  const zones = await listKernel(root, THERMAL, /^thermal_zone\d+$/);
  const readings = await Promise.all(
    zones.map(async (zone) => {
      const celsius = await readCelsius(root, `${THERMAL}/${zone}/temp`);
      const name = (await readKernel(root, `${THERMAL}/${zone}/type`)) || zone;
      return celsius === undefined ? [] : [{ name, celsius }];
    }),
  );
  return readings.flat();
}

async function hwmonChips(root: string): Promise<Array<{ chip: string; reading: Reading }>> {
  const found: Array<{ chip: string; reading: Reading }> = [];
  for (const folder of await listKernel(root, HWMON, /^hwmon\d+$/)) {
    const chip = (await readKernel(root, `${HWMON}/${folder}/name`)) || folder;
    for (const input of await listKernel(root, `${HWMON}/${folder}`, /^temp\d+_input$/)) {
      const celsius = await readCelsius(root, `${HWMON}/${folder}/${input}`);
      if (celsius === undefined) continue;
      const label = await readKernel(root, `${HWMON}/${folder}/${input.replace("_input", "_label")}`);
      found.push({ chip, reading: { name: label ? `${chip} ${label}` : chip, celsius } });
    }
  }
  return found;
}

async function oneWire(root: string): Promise<Reading[]> {
  const readings = await Promise.all(
    // Family codes of thermometers: DS18S20, DS1822, DS18B20, DS1825, DS28EA00.
    (await listKernel(root, ONE_WIRE, /^(10|22|28|3b|42)-[0-9a-f]{12}$/)).map(async (id) => {
      const thousandths = await readKernelNumber(root, `${ONE_WIRE}/${id}/temperature`);
      // A DS18B20 reports 85 °C before its first measurement.
      return thousandths === undefined || thousandths === 85_000
        ? []
        : [{ name: `1-wire ${id}`, celsius: thousandths / 1_000 }];
    }),
  );
  return readings.flat();
}

/** Reads values in thousandths of a degree, or raw values with an offset and a scale. */
async function iioDevices(root: string): Promise<Reading[]> {
  const readings: Reading[] = [];
  for (const device of await listKernel(root, IIO, /^iio:device\d+$/)) {
    const folder = `${IIO}/${device}`;
    const [input, raw, offset = 0, scale] = await Promise.all(
      ["in_temp_input", "in_temp_raw", "in_temp_offset", "in_temp_scale"].map((file) =>
        readKernelNumber(root, `${folder}/${file}`),
      ),
    );
    const thousandths =
      input ?? (raw !== undefined && scale !== undefined ? (raw + offset) * scale : undefined);
    if (thousandths === undefined) continue;
    readings.push({
      name: (await readKernel(root, `${folder}/name`)) || device,
      celsius: thousandths / 1_000,
    });
  }
  return readings;
}

/** The kernel gives thousandths of a degree. */
async function readCelsius(root: string, path: string): Promise<number | undefined> {
  const thousandths = await readKernelNumber(root, path);
  if (thousandths === undefined) return undefined;
  const celsius = thousandths / 1_000;
  return celsius > PLAUSIBLE.from && celsius < PLAUSIBLE.to ? celsius : undefined;
}

/** The thermal zone `cpu-thermal` appears a second time as the hwmon chip `cpu_thermal`. */
function nameKey(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]/g, "");
}
