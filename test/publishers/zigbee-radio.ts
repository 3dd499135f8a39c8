/**
 * A Zigbee radio with devices, within zigbee2mqtt's process: `node --import` loads it before the program, and zigbee-herdsman gets it as
 * its adapter. Devices answer ZCL frames as real ones do; all else (converters, discovery, availability) is zigbee2mqtt's own.
 */
import { EventEmitter } from "node:events";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { RadioMessage, ZigbeeDevice, ZigbeeValue } from "./zigbee-devices.ts";

type Attribute = { name: string; ID: number; type: number };
type Cluster = { name: string; ID: number; attributes: Record<string, Attribute> };
type Item = { attrId: number; attrData?: ZigbeeValue };
type Frame = {
  header: {
    isGlobal: boolean;
    manufacturerCode?: number;
    transactionSequenceNumber: number;
    commandIdentifier: number;
    frameControl: { disableDefaultResponse: boolean };
  };
  payload: unknown;
  cluster: Cluster;
  command: { name: string; response?: number };
  toBuffer(): Buffer;
};
type Herdsman = {
  Zcl: {
    Frame: { create(...parts: unknown[]): Frame };
    Header: { fromBuffer(data: Buffer): unknown };
    Utils: { getCluster(key: string, manufacturer: number | undefined, custom: object): Cluster };
  };
};

const [GLOBAL, SPECIFIC] = [0, 1];
const [TO_DEVICE, FROM_DEVICE] = [0, 1];
const [SUCCESS, UNSUPPORTED_ATTRIBUTE] = [0, 0x86];

/** The attributes that a command changes, by cluster and command. */
const EFFECTS: Record<string, (parameters: Record<string, number>) => Record<string, ZigbeeValue>> = {
  "genOnOff.on": () => ({ "genOnOff.onOff": 1 }),
  "genOnOff.off": () => ({ "genOnOff.onOff": 0 }),
  "genLevelCtrl.moveToLevel": ({ level = 0 }) => ({ "genLevelCtrl.currentLevel": level }),
  "genLevelCtrl.moveToLevelWithOnOff": ({ level = 0 }) => ({
    "genLevelCtrl.currentLevel": level,
    "genOnOff.onOff": level > 0 ? 1 : 0,
  }),
  "lightingColorCtrl.moveToColorTemp": ({ colortemp = 0 }) => ({
    "lightingColorCtrl.colorTemperature": colortemp,
    "lightingColorCtrl.colorMode": 2,
  }),
  "lightingColorCtrl.moveToColor": ({ colorx = 0, colory = 0 }) => ({
    "lightingColorCtrl.currentX": colorx,
    "lightingColorCtrl.currentY": colory,
    "lightingColorCtrl.colorMode": 1,
  }),
  "closuresWindowCovering.upOpen": () => ({ "closuresWindowCovering.currentPositionLiftPercentage": 0 }),
  "closuresWindowCovering.downClose": () => ({ "closuresWindowCovering.currentPositionLiftPercentage": 100 }),
  "closuresWindowCovering.goToLiftPercentage": ({ percentageliftvalue = 0 }) => ({
    "closuresWindowCovering.currentPositionLiftPercentage": percentageliftvalue,
  }),
  "closuresDoorLock.lockDoor": () => ({ "closuresDoorLock.lockState": 1 }),
  "closuresDoorLock.unlockDoor": () => ({ "closuresDoorLock.lockState": 2 }),
};

/** Eurotronic's valve is told "off" by bit 5 and "auto" by bit 4, but reports bit 4 for "off" and nothing for "auto". */
function asStored(name: string, value: ZigbeeValue): ZigbeeValue {
  if (name !== "hvacThermostat.hostFlags" || typeof value !== "number") return value;
  return value & 0x20 ? (value & ~0x20) | 0x10 : value & ~0x10;
}

class PlayedRadio extends EventEmitter {
  readonly manufacturerID = 0;
  readonly hasZdoMessageOverhead = false;
  readonly #zcl: Herdsman["Zcl"];
  readonly #devices: Map<string, ZigbeeDevice & { dead: boolean }>;
  readonly #clusters = new Map<string, Cluster>();

  constructor(zcl: Herdsman["Zcl"], devices: readonly ZigbeeDevice[]) {
    super();
    this.#zcl = zcl;
    this.#devices = new Map(devices.map((device) => [device.ieee, { ...device, dead: false }]));
  }

  start = async () => "resumed";
  stop = async () => {};
  getCoordinatorIEEE = async () => "0x00124b00fa4e0001";
  getCoordinatorVersion = async () => ({ type: "played", meta: { revision: 1 } });
  getNetworkParameters = async () => ({
    panID: 0x1a62,
    extendedPanID: "0xdddddddddddddddd",
    channel: 11,
    nwkUpdateID: 0,
  });
  supportsBackup = async () => false;
  permitJoin = async () => {};
  restoreChannelInterPAN = async () => {};
  sendZclFrameToAll = async () => {};
  sendZclFrameToGroup = async () => {};
  waitFor = () => ({ promise: new Promise<never>(() => {}), cancel: () => {} });

  /** Bindings are taken. */
  sendZdo = async (ieee: string) => {
    this.#alive(ieee);
    return [SUCCESS, {}];
  };

  sendZclFrameToEndpoint = async (ieee: string, _address: number, _endpoint: number, frame: Frame) => {
    const device = this.#alive(ieee);
    this.#clusters.set(frame.cluster.name, frame.cluster);
    const { isGlobal, commandIdentifier: cmdId, frameControl } = frame.header;
    const answer = (type: number, command: string | number, payload: unknown) => {
      const answered = this.#payload(device, this.#answer(frame, type, command, payload));
      // An adapter tells of each frame that comes, also of one that is waited for.
      this.emit("zclPayload", answered);
      return answered;
    };
    if (isGlobal) {
      const items = frame.payload as Item[];
      const { name } = frame.command;
      if (name === "read") return answer(GLOBAL, "readRsp", items.map(this.#read(device, frame.cluster)));
      if (name === "configReport") return answer(GLOBAL, "configReportRsp", [{ status: SUCCESS }]);
      if (name === "write" || name === "writeUndiv") {
        for (const { attrId, attrData } of items) {
          const key = `${frame.cluster.name}.${nameOf(frame.cluster, attrId)}`;
          if (attrData !== undefined) device.attributes[key] = asStored(key, attrData);
        }
        return answer(GLOBAL, "writeRsp", [{ status: SUCCESS }]);
      }
      return answer(GLOBAL, "defaultRsp", { cmdId, statusCode: SUCCESS });
    }
    const parameters = frame.payload as Record<string, number>;
    const changed = EFFECTS[`${frame.cluster.name}.${frame.command.name}`]?.(parameters) ?? {};
    // A device reports after it has answered.
    if (Object.keys(changed).length > 0) setImmediate(() => this.#report(device, changed));
    if (frame.command.response !== undefined)
      return answer(SPECIFIC, frame.command.response, { status: SUCCESS });
    return frameControl.disableDefaultResponse
      ? undefined
      : answer(GLOBAL, "defaultRsp", { cmdId, statusCode: SUCCESS });
  };

  onMessage(message: RadioMessage): void {
    const device = this.#devices.get(message.ieee);
    if (!device) return;
    if ("dead" in message) device.dead = message.dead;
    else if ("attributes" in message) this.#report(device, message.attributes);
    else {
      const { cluster, command, payload, fromServer } = message;
      const direction = fromServer ? FROM_DEVICE : TO_DEVICE;
      const frame = this.#zcl.Frame.create(
        SPECIFIC,
        direction,
        true,
        undefined,
        1,
        command,
        cluster,
        payload,
        {},
      );
      this.emit("zclPayload", this.#payload(device, frame));
    }
  }

  #alive(ieee: string): ZigbeeDevice & { dead: boolean } {
    const device = this.#devices.get(ieee);
    if (!device || device.dead) throw new Error("no answer from the device");
    return device;
  }

  #read = (device: ZigbeeDevice, cluster: Cluster) => (item: Item) => {
    const name = nameOf(cluster, item.attrId);
    const attrData = device.attributes[`${cluster.name}.${name}`];
    const dataType = cluster.attributes[name]?.type;
    if (attrData === undefined || dataType === undefined)
      return { attrId: item.attrId, status: UNSUPPORTED_ATTRIBUTE };
    return { attrId: item.attrId, status: SUCCESS, dataType, attrData };
  };

  #report(device: ZigbeeDevice, attributes: Record<string, ZigbeeValue>): void {
    Object.assign(device.attributes, attributes);
    for (const [key, attrData] of Object.entries(attributes)) {
      const [clusterName = "", name = ""] = key.split(".");
      // A manufacturer's own cluster is known by the frames that zigbee2mqtt sent to it.
      const cluster =
        this.#clusters.get(clusterName) ?? this.#zcl.Utils.getCluster(clusterName, undefined, {});
      const attribute = cluster.attributes[name];
      if (!attribute) throw new Error(`${clusterName} has no attribute ${name}`);
      const payload = [{ attrId: attribute.ID, dataType: attribute.type, attrData }];
      const frame = this.#zcl.Frame.create(
        GLOBAL,
        FROM_DEVICE,
        true,
        undefined,
        1,
        "report",
        cluster,
        payload,
        {},
      );
      this.emit("zclPayload", this.#payload(device, frame));
    }
  }

  #answer(to: Frame, type: number, command: string | number, payload: unknown): Frame {
    const { manufacturerCode, transactionSequenceNumber: number } = to.header;
    return this.#zcl.Frame.create(
      type,
      FROM_DEVICE,
      true,
      manufacturerCode,
      number,
      command,
      to.cluster,
      payload,
      {},
    );
  }

  #payload({ address, endpoint }: ZigbeeDevice, frame: Frame) {
    const data = frame.toBuffer();
    const header = this.#zcl.Header.fromBuffer(data);
    const more = { linkquality: 99, groupID: 0, wasBroadcast: false, destinationEndpoint: 1 };
    return { clusterID: frame.cluster.ID, header, address, data, endpoint, ...more };
  }
}

function nameOf(cluster: Cluster, id: number): string {
  return Object.values(cluster.attributes).find((attribute) => attribute.ID === id)?.name ?? String(id);
}

// The packages of the program that is started.
const load = createRequire(process.argv[1] ?? "");
const { Zcl } = load("zigbee-herdsman") as Herdsman;
const { Adapter } = load("zigbee-herdsman/dist/adapter") as { Adapter: { create: unknown } };
const devices = JSON.parse(readFileSync(process.env.ZIGBEE_DEVICES ?? "", "utf8")) as ZigbeeDevice[];
const radio = new PlayedRadio(Zcl, devices);
Adapter.create = async () => radio;
process.on("message", (message: RadioMessage) => radio.onMessage(message));
// The test's end ends it too.
process.on("disconnect", () => process.exit());
