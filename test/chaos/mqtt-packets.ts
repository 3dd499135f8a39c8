/** Just enough of MQTT's framing to tell one packet from the next, and a publish from the rest. */

/** A packet has at most four bytes of length (MQTT 3.1.1, 2.2.3). */
const LENGTH_BYTES_MAX = 4;
const PUBLISH = 3;

/** Cuts a stream into packets; what is not complete yet waits for more. */
export class PacketCutter {
  #rest: Buffer = Buffer.alloc(0);

  /** @returns the packets that are complete now, each as it was sent */
  push(chunk: Buffer): Buffer[] {
    let rest = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    const packets: Buffer[] = [];
    for (let size = sizeOf(rest); size !== undefined && size <= rest.length; size = sizeOf(rest)) {
      packets.push(rest.subarray(0, size));
      rest = rest.subarray(size);
    }
    this.#rest = rest;
    return packets;
  }
}

/** The whole size of the packet that begins here; undefined while its length has not come. */
function sizeOf(bytes: Buffer): number | undefined {
  let length = 0;
  for (let at = 1; at <= LENGTH_BYTES_MAX; at += 1) {
    const byte = bytes[at];
    if (byte === undefined) return undefined;
    length += (byte & 0x7f) * 128 ** (at - 1);
    if ((byte & 0x80) === 0) return at + 1 + length;
  }
  throw new Error("not MQTT: a length of more than four bytes");
}

function headerOf(packet: Buffer): number {
  let at = 1;
  while (((packet[at] ?? 0) & 0x80) !== 0) at += 1;
  return at + 1;
}

/** The topic of a PUBLISH; undefined for any other packet. */
export function topicOfPublish(packet: Buffer): string | undefined {
  if ((packet[0] ?? 0) >> 4 !== PUBLISH) return undefined;
  const at = headerOf(packet);
  return packet.toString("utf8", at + 2, at + 2 + packet.readUInt16BE(at));
}

/** The same publish as a message of its own: with another packet id, so that its ack cannot be mistaken. */
export function asNewPublish(packet: Buffer, packetId: number): Buffer {
  const copy = Buffer.from(packet);
  // Not marked as a repetition, and not retained.
  copy[0] = (copy[0] ?? 0) & 0b1111_0110;
  const qos = ((copy[0] ?? 0) >> 1) & 0b11;
  const at = headerOf(copy);
  if (qos > 0) copy.writeUInt16BE(packetId, at + 2 + copy.readUInt16BE(at));
  return copy;
}
