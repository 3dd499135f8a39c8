/**
 * rtl_433 (Debian) and its script for Home Assistant, over a radio receiver that is played: rtl_433 asks it over TCP for its samples, as it
 * asks rtl_tcp, decodes them, and publishes what it heard. Any neighbour's thermometer is heard that way.
 */
import { createServer, type Socket } from "node:net";
import { freePort } from "../../local/port.ts";
import { PUBLISHERS, RTL_433_SCRIPT } from "../needs.ts";
import { type Publisher, Running } from "./running.ts";

const SAMPLES_PER_MS = 250;
/** rtl_433 decodes blocks of this many bytes, two a sample: about half a second. It gives up on a receiver that sends none. */
const BLOCK = 262_144;
const BLOCK_EVERY_MS = 500;
const SILENCE = Buffer.alloc(BLOCK, 128);

type Thermometer = { id: number; channel: number; temperature: number; humidity: number };

export type Rtl433 = Publisher & {
  /** A thermometer (Nexus-TH) is heard. */
  hear(thermometer: Thermometer): void;
};

/** The samples of a thermometer's message, six times: a pulse, then a pause of 1 ms for 0 and 2 ms for 1. */
function samplesOf({ id, channel, temperature, humidity }: Thermometer): Buffer {
  const isBatteryGood = 1;
  const fields: Array<[value: number, bits: number]> = [
    [id, 8],
    [(isBatteryGood << 3) | (channel - 1), 4],
    [Math.round(temperature * 10) & 0xfff, 12],
    [0xf, 4],
    [humidity, 8],
  ];
  const bits = fields.map(([value, count]) => value.toString(2).padStart(count, "0")).join("");
  const samples = Buffer.concat([SILENCE, SILENCE]);
  let at = 10 * SAMPLES_PER_MS;
  const pulse = (pauseMs: number) => {
    for (let sample = 0; sample < 0.5 * SAMPLES_PER_MS; sample += 1) samples[2 * (at + sample)] = 228;
    at += (0.5 + pauseMs) * SAMPLES_PER_MS;
  };
  for (let time = 0; time < 6; time += 1) {
    for (const bit of bits) pulse(bit === "1" ? 2 : 1);
    pulse(4);
  }
  return samples;
}

export async function startRtl433(port: number): Promise<Rtl433> {
  const receivers = new Set<Socket>();
  const radio = createServer((socket) => {
    receivers.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => receivers.delete(socket));
    // The frequency and the gain that it asks for do not matter.
    socket.resume();
    // rtl_tcp's greeting: its name, a tuner (R820T), and its 29 gains.
    socket.write(Buffer.from([...Buffer.from("RTL0"), 0, 0, 0, 5, 0, 0, 0, 29]));
  });
  const send = (samples: Buffer) => {
    for (const socket of receivers) socket.write(samples);
  };
  const noise = setInterval(() => send(SILENCE), BLOCK_EVERY_MS);
  const radioPort = await freePort();
  await new Promise<void>((resolve) => radio.listen(radioPort, "127.0.0.1", resolve));
  const script = new Running("rtl-433-script", () => ({
    command: [PUBLISHERS, RTL_433_SCRIPT, "--retain", "-H", "127.0.0.1", "-p", String(port)],
  }));
  const running = new Running("rtl-433", () => {
    const output = `mqtt://127.0.0.1:${port},retain=0`;
    const nexus = ["-R", "19", "-C", "si", "-M", "newmodel"];
    return { command: ["rtl_433", "-d", `rtl_tcp:127.0.0.1:${radioPort}`, ...nexus, "-F", output] };
  });
  const stop = async () => {
    await Promise.all([running.stop(), script.stop()]);
    clearInterval(noise);
    for (const socket of receivers) socket.destroy();
    await new Promise((resolve) => radio.close(resolve));
  };
  try {
    await script.ready(() => script.lines.some((line) => line.includes("Subscribing to")));
    await running.ready(
      () => receivers.size > 0 && running.lines.some((line) => line.includes("MQTT Connected")),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    name: "rtl_433",
    topics: /\/Nexus-TH/,
    hear: (thermometer) => send(samplesOf(thermometer)),
    stop,
  };
}
