/** All publishers at once on one broker. */
import type { BrokerView } from "./broker-view.ts";
import { startDeviceForm } from "./device-form.ts";
import { startBox } from "./discoverable.ts";
import { startLnxlink } from "./lnxlink.ts";
import { startMqttIo } from "./mqtt-io.ts";
import { startRtl433 } from "./rtl-433.ts";
import type { Publisher } from "./running.ts";
import { startSandcastle } from "./sandcastle.ts";
import { startZigbee2mqtt } from "./zigbee2mqtt.ts";

export type Publishers = Awaited<ReturnType<typeof startPublishers>>;

/** @throws when one does not start; then the others are stopped */
export async function startPublishers(port: number, view: BrokerView) {
  const started: Publisher[] = [];
  const begin = async <T extends Publisher>(starting: Promise<T>): Promise<T> => {
    const publisher = await starting;
    started.push(publisher);
    return publisher;
  };
  const all = [
    begin(startZigbee2mqtt(port, view)),
    begin(startSandcastle(port, view)),
    begin(startBox(port)),
    begin(startDeviceForm(port)),
    begin(startMqttIo(port, view)),
    begin(startLnxlink(port, view)),
    begin(startRtl433(port)),
  ] as const;
  const stop = async () => void (await Promise.all(started.map((publisher) => publisher.stop())));
  const failed = (await Promise.allSettled(all)).find((result) => result.status === "rejected");
  if (failed) {
    await stop();
    throw failed.reason;
  }
  const [zigbee2mqtt, sandcastle, box, deviceForm, mqttIo, lnxlink, rtl433] = await Promise.all(all);
  return { zigbee2mqtt, sandcastle, box, deviceForm, mqttIo, lnxlink, rtl433, list: started, stop };
}
