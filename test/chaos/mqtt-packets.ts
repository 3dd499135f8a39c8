/** Enough of MQTT's framing to separate packets and to recognise a publish. */

/** The length of a packet takes at most four bytes (MQTT 3.1.1, 2.2.3). */
const LENGTH_BYTES_MAX = 4;
const PUBLISH = 3;

/** Cuts a stream into packets, and keeps incomplete ones until more arrives. */
export class PacketCutter {
  #rest: Buffer = Buffer.alloc(0);

  /** @returns the packets that are now complete, each as it was sent */
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

/** Returns the whole size in bytes of the packet that begins here; undefined until its length has arrived. */
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

/** Returns the topic of a PUBLISH; undefined for any other packet. */
export function topicOfPublish(packet: Buffer): string | undefined {
  if ((packet[0] ?? 0) >> 4 !== PUBLISH) return undefined;
  const at = headerOf(packet);
  return packet.toString("utf8", at + 2, at + 2 + packet.readUInt16BE(at));
}

/**
 * Makes an independent copy of a publish. It has another packet id, so that its ack is not confused with the
 * original's.
 */
export function asNewPublish(packet: Buffer, packetId: number): Buffer {
  const copy = Buffer.from(packet);
  // It is not marked as a repetition, and not retained.
  copy[0] = (copy[0] ?? 0) & 0b1111_0110;
  const qos = ((copy[0] ?? 0) >> 1) & 0b11;
  const at = headerOf(copy);
  if (qos > 0) copy.writeUInt16BE(packetId, at + 2 + copy.readUInt16BE(at));
  return copy;
}
