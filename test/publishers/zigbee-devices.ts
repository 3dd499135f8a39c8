/** The devices of the played Zigbee radio (`zigbee-radio.ts`), by the model ids that zigbee2mqtt's real converters know. */

/** A number, a text or a list, as a ZCL attribute has it. */
export type ZigbeeValue = number | string | readonly number[];

export type ZigbeeDevice = {
  /** Its friendly name. */
  name: string;
  ieee: string;
  address: number;
  model: string;
  vendor: string;
  isBattery: boolean;
  endpoint: number;
  /** Ids of its input clusters. */
  clusters: readonly number[];
  /** Its answers when it is read, as `cluster.attribute`. */
  attributes: Record<string, ZigbeeValue>;
};

/** From the test to the radio. */
export type RadioMessage = { ieee: string } & (
  | { dead: boolean }
  /** It reports these by itself. */
  | { attributes: Record<string, ZigbeeValue> }
  /** It sends a command, as a remote does. */
  | { cluster: string; command: string; payload: Record<string, unknown>; fromServer: boolean }
);

const BASIC = 0;
const POWER = 1;
const IDENTIFY = 3;
const GROUPS = 4;
const ON_OFF = 6;
const LEVEL = 8;
const DOOR_LOCK = 0x101;
const WINDOW_COVERING = 0x102;
const THERMOSTAT = 0x201;
const COLOR = 0x300;
const TEMPERATURE = 0x402;
const PRESSURE = 0x403;
const HUMIDITY = 0x405;
const IAS_ZONE = 0x500;
const WARNING = 0x502;
const IKEA_AIR_PURIFIER = 0xfc7d;

const battery = { "genPowerCfg.batteryPercentageRemaining": 160, "genPowerCfg.batteryVoltage": 30 };

export const ZIGBEE_DEVICES: readonly ZigbeeDevice[] = [
  {
    name: "Living room lamp",
    ieee: "0x0017880100000101",
    address: 0x101,
    model: "LCA001",
    vendor: "Signify Netherlands B.V.",
    isBattery: false,
    endpoint: 11,
    clusters: [BASIC, IDENTIFY, GROUPS, ON_OFF, LEVEL, COLOR],
    attributes: {
      "genOnOff.onOff": 0,
      "genLevelCtrl.currentLevel": 100,
      "lightingColorCtrl.colorTemperature": 370,
      "lightingColorCtrl.colorMode": 2,
      "lightingColorCtrl.colorCapabilities": 31,
      "lightingColorCtrl.currentX": 30_000,
      "lightingColorCtrl.currentY": 26_000,
      "lightingColorCtrl.colorTempPhysicalMin": 153,
      "lightingColorCtrl.colorTempPhysicalMax": 500,
    },
  },
  {
    name: "Coffee plug",
    ieee: "0x000b57fffe000102",
    address: 0x102,
    model: "TRADFRI control outlet",
    vendor: "IKEA of Sweden",
    isBattery: false,
    endpoint: 1,
    clusters: [BASIC, IDENTIFY, GROUPS, ON_OFF],
    attributes: { "genOnOff.onOff": 0 },
  },
  {
    name: "Freezer",
    ieee: "0x00158d0000000103",
    address: 0x103,
    model: "lumi.weather",
    vendor: "LUMI",
    isBattery: true,
    endpoint: 1,
    clusters: [BASIC, TEMPERATURE, PRESSURE, HUMIDITY],
    attributes: { "msTemperatureMeasurement.measuredValue": -1_820 },
  },
  {
    name: "Garden gate",
    ieee: "0x00158d0000000104",
    address: 0x104,
    model: "lumi.sensor_magnet.aq2",
    vendor: "LUMI",
    isBattery: true,
    endpoint: 1,
    clusters: [BASIC, ON_OFF],
    attributes: {},
  },
  {
    name: "Bedroom blind",
    ieee: "0x14b457fffe000105",
    address: 0x105,
    model: "FYRTUR block-out roller blind",
    vendor: "IKEA of Sweden",
    isBattery: true,
    endpoint: 1,
    clusters: [BASIC, POWER, IDENTIFY, GROUPS, WINDOW_COVERING],
    attributes: { "closuresWindowCovering.currentPositionLiftPercentage": 100, ...battery },
  },
  {
    name: "Bath radiator",
    ieee: "0x00158d0000000106",
    address: 0x106,
    model: "SPZB0001",
    vendor: "Eurotronic",
    isBattery: true,
    endpoint: 1,
    clusters: [BASIC, POWER, IDENTIFY, GROUPS, THERMOSTAT],
    attributes: {
      "hvacThermostat.localTemp": 2_050,
      "hvacThermostat.occupiedHeatingSetpoint": 2_100,
      "hvacThermostat.unoccupiedHeatingSetpoint": 1_600,
      "hvacThermostat.pIHeatingDemand": 0,
      "hvacThermostat.currentHeatingSetpoint": 2_100,
      "hvacThermostat.trvMode": 2,
      "hvacThermostat.valvePosition": 0,
      "hvacThermostat.errorStatus": 0,
      "hvacThermostat.hostFlags": 1,
      ...battery,
    },
  },
  {
    name: "Front door lock",
    ieee: "0x000d6f0000000107",
    address: 0x107,
    model: "YRD226/246 TSDB",
    vendor: "Yale",
    isBattery: true,
    endpoint: 1,
    clusters: [BASIC, POWER, IDENTIFY, DOOR_LOCK],
    attributes: { "closuresDoorLock.lockState": 1, ...battery },
  },
  {
    name: "Alarm siren",
    ieee: "0x00158d0000000108",
    address: 0x108,
    model: "WarningDevice",
    vendor: "Heiman",
    isBattery: false,
    endpoint: 1,
    clusters: [BASIC, POWER, IDENTIFY, IAS_ZONE, WARNING],
    attributes: { "ssIasWd.maxDuration": 240, "ssIasZone.iasCieAddr": "0x00124b00fa4e0001", ...battery },
  },
  {
    name: "Air purifier",
    ieee: "0x540f57fffe000109",
    address: 0x109,
    model: "STARKVIND Air purifier",
    vendor: "IKEA of Sweden",
    isBattery: false,
    endpoint: 1,
    clusters: [BASIC, IDENTIFY, GROUPS, IKEA_AIR_PURIFIER],
    attributes: {
      "manuSpecificIkeaAirPurifier.fanMode": 0,
      "manuSpecificIkeaAirPurifier.fanSpeed": 0,
      "manuSpecificIkeaAirPurifier.particulateMatter25Measurement": 7,
      "manuSpecificIkeaAirPurifier.childLock": 0,
      "manuSpecificIkeaAirPurifier.controlPanelLight": 0,
      "manuSpecificIkeaAirPurifier.filterRunTime": 1_200,
      "manuSpecificIkeaAirPurifier.deviceRunTime": 1_200,
    },
  },
  {
    name: "Kitchen smoke",
    ieee: "0x00158d0000000110",
    address: 0x110,
    model: "lumi.sensor_smoke",
    vendor: "LUMI",
    isBattery: true,
    endpoint: 1,
    clusters: [BASIC, IAS_ZONE],
    attributes: { "ssIasZone.iasCieAddr": "0x00124b00fa4e0001" },
  },
  {
    name: "Sofa remote",
    ieee: "0x000b57fffe000111",
    address: 0x111,
    model: "TRADFRI remote control",
    vendor: "IKEA of Sweden",
    isBattery: true,
    endpoint: 1,
    clusters: [BASIC, POWER, IDENTIFY],
    // In whole percents, where the standard has halves.
    attributes: { "genPowerCfg.batteryPercentageRemaining": 80 },
  },
];
